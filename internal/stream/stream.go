// Package stream derives random streams from a seed and a place, so that a
// draw depends on where it is made and never on what was drawn before it.
package stream

import (
	"math/rand/v2"

	"missingscore/internal/simd"
)

// Purposes keep the streams of one fit apart.
const (
	Initial uint64 = iota + 1
	Shuffle
	Train
	Impute
	Simulate
	Hide
	Replicate
	Objective
	Sample
	Validate
	Resample
	Permute
	Complete
	Hold
	Latent
	Survey
)

// New returns the stream of the place given by keys (purpose, iteration, batch …).
// Equal seed and keys give equal draws; any difference gives an unrelated stream.
func New(seed uint64, keys ...uint64) *rand.Rand { return new(Stream).At(seed, keys...).Rand }

// Stream goes from place to place without allocating. The zero value is ready for At.
type Stream struct {
	*rand.Rand
	pcg rand.PCG
}

// At is the stream of a place; the one given before is at an end.
func (s *Stream) At(seed uint64, keys ...uint64) *Stream {
	a, b := mix(seed), mix(seed^0x9e3779b97f4a7c15)
	for _, k := range keys {
		a = mix(a ^ mix(k+0x632be59bd9b4e019))
		b = mix(b + a)
	}
	s.pcg.Seed(a, b)
	if s.Rand == nil {
		s.Rand = rand.New(&s.pcg)
	}
	return s
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Normals fills dst with standard normals.
func (s *Stream) Normals(dst []float64) {
	for i := range dst {
		dst[i] = s.NormFloat64()
	}
}

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

// Normals fills dst with standard normals. What is left of the last block is not drawn again.
func (g *Singles) Normals(dst []float32) {
	whole := len(dst) - len(dst)%simd.NormalBlock
	simd.NormalBlocks(dst[:whole], &g.lanes)
	if whole < len(dst) {
		var last [simd.NormalBlock]float32
		simd.NormalBlocks(last[:], &g.lanes)
		copy(dst[whole:], last[:])
	}
}
