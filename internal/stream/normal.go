package stream

import (
	"encoding/binary"
	"math"
	"math/bits"

	"missingscore/internal/simd"
)

// Normals fills dst with standard normals: the numbers that as many calls of
// NormFloat64 would give, to the bit, and the stream goes on as after them. The
// generator stays in registers meanwhile, which is nearly twice as fast.
func (s *Stream) Normals(dst []float64) {
	var memory [20]byte // "pcg:" and the state
	text, _ := s.pcg.AppendBinary(memory[:0])
	p := pcg{binary.BigEndian.Uint64(text[4:]), binary.BigEndian.Uint64(text[12:])}
	for i := range dst {
		p = p.next()
		word := p.word()
		j, strip := int32(word), &ziggurat[word>>32&127]
		x := float64(j) * float64(strip.width)
		if size(j) >= strip.inner {
			x, p = p.edge(word)
		}
		dst[i] = x
	}
	binary.BigEndian.PutUint64(text[4:], p.high)
	binary.BigEndian.PutUint64(text[12:], p.low)
	if err := s.pcg.UnmarshalBinary(text); err != nil {
		panic(err) // it was written by the same type
	}
}

// pcg is the state of rand.PCG.
type pcg struct{ high, low uint64 }

func (p pcg) next() pcg {
	const (
		mulHigh = 2549297995355413924
		mulLow  = 4865540595714422341
		addHigh = 6364136223846793005
		addLow  = 1442695040888963407
	)
	high, low := bits.Mul64(p.low, mulLow)
	high += p.high*mulLow + p.low*mulHigh
	low, carry := bits.Add64(low, addLow, 0)
	high, _ = bits.Add64(high, addHigh, carry)
	return pcg{high, low}
}

func (p pcg) word() uint64 {
	const multiplier = 0xda942042e4dd58b5
	u := p.high
	u ^= u >> 32
	u *= multiplier
	u ^= u >> 48
	return u * (p.low | 1)
}

func (p pcg) uniform() (float64, pcg) {
	p = p.next()
	return float64(p.word()<<11>>11) / (1 << 53), p
}

// strip is a layer of the ziggurat: the share of it that lies inside the curve, and
// its width; the first is the tail's.
type strip struct {
	inner uint32
	width float32
}

const tail = 3.442619855899 // where it begins

// ziggurat and densities (at the lower edges) are the tables of math/rand/v2, by the
// recipe of Marsaglia & Tsang 2000.
var ziggurat, densities = func() (z [128]strip, f [128]float32) {
	const area, unit = 9.91256303526217e-3, 1 << 31
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	set := func(i int, inner, width, x float64) {
		z[i], f[i] = strip{uint32(inner * unit), float32(width / unit)}, float32(density(x))
	}
	base := area / density(tail)
	set(0, tail/base, base, 0)
	set(127, 0, tail, tail)
	x := tail
	for i := 126; i >= 1; i-- {
		outer := x
		x = math.Sqrt(-2 * math.Log(area/outer+density(outer)))
		z[i+1].inner = uint32(x / outer * unit)
		set(i, 0, x, x)
	}
	return z, f
}()

// edge is the draw from a word that did not fall well inside its strip.
func (p pcg) edge(word uint64) (float64, pcg) {
	for {
		j, i := int32(word), word>>32&127
		x := float64(j) * float64(ziggurat[i].width)
		if size(j) < ziggurat[i].inner {
			return x, p
		}
		if i == 0 {
			return p.beyond(j > 0)
		}
		var u float64
		u, p = p.uniform()
		low, high := densities[i], densities[i-1]
		if low+float32(u)*(high-low) < float32(math.Exp(-0.5*x*x)) {
			return x, p
		}
		p = p.next()
		word = p.word()
	}
}

// beyond draws from the tail.
func (p pcg) beyond(positive bool) (float64, pcg) {
	for {
		var u, v float64
		u, p = p.uniform()
		v, p = p.uniform()
		x := -math.Log(u) * (1.0 / tail)
		if y := -math.Log(v); y+y < x*x {
			continue
		}
		if positive {
			return tail + x, p
		}
		return -tail - x, p
	}
}

func size(j int32) uint32 { return uint32((j ^ j>>31) - j>>31) }

// Singles draws normals in float32, in several lanes at once: five times as fast as
// Normals, for programs in float32, and other numbers. See simd.Lanes.
type Singles struct{ lanes simd.Lanes }

// From starts g's generators with the next words of s.
func (g *Singles) From(s *Stream) {
	for k := range g.lanes {
		for i := range g.lanes[k] {
			g.lanes[k][i] = s.Uint32()
		}
	}
}

// Normals fills dst with standard normals. What is left of the last block is not
// drawn again.
func (g *Singles) Normals(dst []float32) {
	whole := len(dst) - len(dst)%simd.NormalBlock
	simd.NormalBlocks(dst[:whole], &g.lanes)
	if whole < len(dst) {
		var last [simd.NormalBlock]float32
		simd.NormalBlocks(last[:], &g.lanes)
		copy(dst[whole:], last[:])
	}
}
