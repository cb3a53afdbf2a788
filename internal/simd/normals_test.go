package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func lanes(seed uint64) (s Lanes) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for k := range s {
		for i := range s[k] {
			s[k][i] = rng.Uint32()
		}
	}
	return s
}

// Reference output of Blackman & Vigna's C program from the state 1, 2, 3, 4.
func TestLanesAreXoshiro128PlusPlus(t *testing.T) {
	var s Lanes
	for k := range s {
		s[k][5] = uint32(k) + 1
	}
	var got []uint32
	for range 10 {
		got = append(got, s.next(5))
	}
	require.Equal(t, []uint32{641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732, 1355841295, 495546011, 621204420}, got)
}

func TestNormalBlocksEqualThePlainOnes(t *testing.T) {
	for blocks := range 200 {
		a, b := lanes(uint64(blocks)), lanes(uint64(blocks))
		got, want := make([]float32, blocks*NormalBlock), make([]float32, blocks*NormalBlock)
		for range 2 {
			NormalBlocks(got, &a)
			normalBlocks(want, &b)
			require.Equal(t, want, got)
			require.Equal(t, b, a)
		}
	}
}

func TestNormalBlocksByTheFormula(t *testing.T) {
	const unit = 0x1p-24
	s := lanes(3)
	for round := range 20000 {
		if round == 0 { // a = 2³² − 1, and a = 0: u is 1, and 2^−32
			for i := range 4 {
				s[0][i], s[3][i] = 0xffffffff, 0
				s[0][4+i], s[3][4+i] = 0, 0
			}
			for i := range 8 {
				s[1][i] |= 1
			}
		}
		before := s
		var got [NormalBlock]float32
		NormalBlocks(got[:], &s)
		for i := range 8 {
			a, b := before.next(i), before.next(i)
			u := min(1, (float64(a>>1)+0.5)/(1<<31))
			radius := math.Sqrt(-2 * math.Log(u))
			angle := float64(int32(b<<2)) / (1 << 32) * math.Pi / 2
			first, second := math.Cos(angle), math.Sin(angle)
			if b>>31 == 1 {
				first = -first
			}
			if b>>30&1 == 1 {
				first, second = second, first
			}
			// Six rounding errors of the result, and two of u, amplified by 1/u and 1/radius.
			slack := 6*unit*radius + 2*unit/max(radius, math.Sqrt(unit))
			require.InDelta(t, radius*first, float64(got[i]), slack, "a = %d, b = %d", a, b)
			require.InDelta(t, radius*second, float64(got[8+i]), slack, "a = %d, b = %d", a, b)
		}
	}
}
