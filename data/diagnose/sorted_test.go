package diagnose

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

// Many numbers are in the order that comparisons put them into, whatever their signs and sizes.
func TestSorter(t *testing.T) {
	rng := stream.New(3)
	var s sorter
	for name, draw := range map[string]func(i int) float64{
		"normal":      func(int) float64 { return rng.NormFloat64() },
		"whole":       func(int) float64 { return math.Floor(40 * rng.NormFloat64()) },
		"all sizes":   func(int) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1000) },
		"equal":       func(int) float64 { return -2.5 },
		"zeros":       func(i int) float64 { return math.Copysign(0, float64(i%3-1)) },
		"a few":       func(i int) float64 { return []float64{-3, 7, 0.1, math.Inf(1), math.Inf(-1)}[i%5] },
		"decreasing":  func(i int) float64 { return float64(-i) },
		"smallest":    func(i int) float64 { return float64(i%5-2) * math.SmallestNonzeroFloat64 },
		"one of many": func(i int) float64 { return float64(i / 2999) },
	} {
		for _, n := range []int{3000, 2500, 5, 0} { // less room is needed after the first
			x := make([]float64, n)
			for i := range x {
				x[i] = draw(i)
			}
			want := slices.Clone(x)
			slices.Sort(want)
			s.sort(x)
			require.Equal(t, want, x, name)
		}
	}
}
