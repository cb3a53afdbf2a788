package simd

import "math"

// Lanes is the state of eight parallel xoshiro128++ generators (Blackman & Vigna 2021).
type Lanes [4][8]uint32

// NormalBlock is the number of normals per step.
const NormalBlock = 16

// NormalBlocks fills whole blocks of NormalBlock with standard normals, the same bits everywhere.
func NormalBlocks(dst []float32, s *Lanes) {
	if n := len(dst) / NormalBlock; n > 0 && fast {
		normalsF32(&dst[0], &s[0][0], &normalConstants[0][0], n)
		return
	}
	normalBlocks(dst, s)
}

// Two words a, b of each lane become two normals R cos φ, R sin φ (Box & Muller 1958):
//
//   - R = √(−2 log u), u = (a/2 + ½)/2³¹ in (0, 1], the logarithm by Cephes' logf;
//   - φ, an angle of at most 45° from the low 30 bits of b by Cephes' sinf and cosf;
//     the high two exchange sine and cosine, and turn the cosine's sign.
//
// Every operation is rounded by itself, so that all machines give the same bits.
func normalBlocks(dst []float32, s *Lanes) {
	c := &normalConstants
	for ; len(dst) >= NormalBlock; dst = dst[NormalBlock:] {
		var a, b [8]uint32
		for i := range 8 {
			a[i] = s.next(i)
			b[i] = s.next(i)
		}
		for i := range 8 {
			u := (float32(int32(a[i]>>1)) + c.f(half)) * c.f(unit31)
			bits := int32(math.Float32bits(u))
			e := (bits - int32(c[root][0])) >> 23
			m := math.Float32frombits(uint32(bits-e<<23)) - c.f(one)
			m2 := float32(m * m)
			y := c.f(log0)
			for k := log0 + 1; k <= log8; k++ {
				y = float32(y*m) + c.f(k)
			}
			y = float32(float32(y*m) * m2)
			exponent := float32(e)
			y += float32(exponent * c.f(ln2Low))
			y -= float32(m2 * c.f(half))
			y = m + y + float32(exponent*c.f(ln2High))
			radius := float32(math.Sqrt(float64(float32(y * c.f(minusTwo)))))

			angle := float32(float32(int32(b[i]<<2)) * c.f(quarter))
			z := float32(angle * angle)
			sin := float32(float32(float32(c.f(sin2)*z)+c.f(sin1))*z) + c.f(sin0)
			sin = float32(float32(sin*z)*angle) + angle
			cos := float32(float32(float32(c.f(cos2)*z)+c.f(cos1))*z) + c.f(cos0)
			cos = float32(float32(cos*z)*z) - float32(z*c.f(half)) + c.f(one)
			cos = math.Float32frombits(math.Float32bits(cos) ^ b[i]&c[sign][0])
			if b[i]<<1&c[sign][0] != 0 {
				sin, cos = cos, sin
			}
			dst[i], dst[8+i] = radius*cos, radius*sin
		}
	}
}

func (s *Lanes) next(i int) uint32 {
	rotate := func(x uint32, k int) uint32 { return x<<k | x>>(32-k) }
	word := rotate(s[0][i]+s[3][i], 7) + s[0][i]
	t := s[1][i] << 9
	s[2][i] ^= s[0][i]
	s[3][i] ^= s[1][i]
	s[1][i] ^= s[2][i]
	s[0][i] ^= s[3][i]
	s[2][i] ^= t
	s[3][i] = rotate(s[3][i], 11)
	return word
}

// Indices in normalConstants; asm/main.go has the same.
const (
	half = iota
	one
	unit31
	root
	log0
)

const (
	log8 = log0 + 8 + iota
	ln2Low
	ln2High
	minusTwo
	quarter
	sin0
	sin1
	sin2
	cos0
	cos1
	cos2
	sign
	constantCount
)

// constantTable repeats each constant in all lanes, as the instructions need.
type constantTable [constantCount][8]uint32

func (c *constantTable) f(k int) float32 { return math.Float32frombits(c[k][0]) }

var normalConstants = func() (c constantTable) {
	set := func(first int, values ...float32) {
		for k, v := range values {
			for i := range 8 {
				c[first+k][i] = math.Float32bits(v)
			}
		}
	}
	set(half, 0.5, 1, 1./(1<<31), math.Sqrt2/2)
	set(log0, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
	set(ln2Low, -2.12194440e-4, 0.693359375, -2, math.Pi/2/(1<<32))
	set(sin0, -1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
	set(cos0, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)
	set(sign, float32(math.Copysign(0, -1)))
	return c
}()
