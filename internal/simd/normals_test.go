package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
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

// Blackman & Vigna's own C program gives these from the state 1, 2, 3, 4.
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

// Each pair by the formula in float64, at the smallest and largest words too.
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
			// Six roundings of the result; two of u, of which the logarithm has 1/u and
			// the root 1/radius, down to where u is rounded to 1.
			slack := 6*unit*radius + 2*unit/max(radius, math.Sqrt(unit))
			require.InDelta(t, radius*first, float64(got[i]), slack, "a = %d, b = %d", a, b)
			require.InDelta(t, radius*second, float64(got[8+i]), slack, "a = %d, b = %d", a, b)
		}
	}
}

// Kolmogorov and Smirnov's distance, moments, and no correlation between a pair, its
// squares, neighbours, or blocks; all within 4.5 standard errors.
func TestNormalBlocksAreNormal(t *testing.T) {
	const n = 1 << 20
	s := lanes(7)
	single := make([]float32, n)
	NormalBlocks(single, &s)
	x := make([]float64, n)
	for i, v := range single {
		x[i] = float64(v)
	}
	product := func(f func(i int) (float64, bool)) (sum, count float64) {
		for i := range x {
			if v, ok := f(i); ok {
				sum, count = sum+v, count+1
			}
		}
		return sum, count
	}
	for name, c := range map[string]struct {
		variance float64
		f        func(i int) (float64, bool)
	}{
		"mean":             {1, func(i int) (float64, bool) { return x[i], true }},
		"variance":         {2, func(i int) (float64, bool) { return x[i]*x[i] - 1, true }},
		"third":            {15, func(i int) (float64, bool) { return x[i] * x[i] * x[i], true }},
		"fourth":           {96, func(i int) (float64, bool) { return math.Pow(x[i], 4) - 3, true }},
		"pair":             {1, func(i int) (float64, bool) { return x[i] * x[i^8], i&8 == 0 }},
		"squares of pairs": {4, func(i int) (float64, bool) { return (x[i]*x[i] - 1) * (x[i^8]*x[i^8] - 1), i&8 == 0 }},
		"neighbours":       {1, func(i int) (float64, bool) { return x[i] * x[i^1], i&1 == 0 }},
		"blocks":           {1, func(i int) (float64, bool) { return x[i] * x[i^16], i&16 == 0 }},
	} {
		sum, count := product(c.f)
		require.InDelta(t, 0, sum/count, 4.5*math.Sqrt(c.variance/count), name)
	}
	slices.Sort(x)
	distance := 0.0
	for i, v := range x {
		p := distuv.UnitNormal.CDF(v)
		distance = max(distance, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	require.Less(t, distance*math.Sqrt(n), 2.6, "of 3 in a million true samples it is more")
	for _, p := range []float64{0.01, 0.99} { // of the largest
		quantile := distuv.UnitNormal.Quantile(math.Pow(p, 1./n))
		require.Equal(t, p > 0.5, quantile > x[n-1], "%v is beyond %v", x[n-1], quantile)
	}
	require.InDelta(t, 0, stat.Skew(x, nil), 4.5*math.Sqrt(6./n))
}

func BenchmarkNormalBlocks(b *testing.B) {
	s := lanes(1)
	x := make([]float32, 1024)
	b.Run("vectors", func(b *testing.B) {
		for b.Loop() {
			NormalBlocks(x, &s)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/number")
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			normalBlocks(x, &s)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/number")
	})
}
