package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/fitted"
)

func TestGrids(t *testing.T) {
	gaps := table([]string{"whole", "tenths", "mixed", "fine", "none", "negative"},
		[]float64{1, 0.1, 1.25, math.Pi, nan, -3}, []float64{20, 2, 3, 1, nan, nan}, []float64{nan, 0.3, nan, 2, nan, -2.5})
	require.Equal(t, []float64{1, 0.1, 0.01, 0, 0, 0.1}, fitted.Grids(gaps))
	low, high := fitted.Ranges(gaps)
	require.Equal(t, []float64{1, 0.1, 1.25, 1, math.Inf(-1), -3}, low)
	require.Equal(t, []float64{20, 2, 3, math.Pi, math.Inf(1), -2.5}, high)
}

func TestHold(t *testing.T) {
	f, _ := scaledNormal(t)
	gaps := table(f.Names, []float64{0.123, nan, nan}, []float64{nan, 2, nan})
	values := []float64{0.123, 7.26, -3, 0.123, 7.24, 99, 1.4, 2, 5, 1.6, 2, 0.05}
	h := fitted.Hold{Step: []float64{1, 0.1, 0}, Low: []float64{math.Inf(-1), 0, 0}, High: []float64{math.Inf(1), 7.25, 10}}
	require.Equal(t, 6, h.Apply(f, gaps, values, 2))
	require.Equal(t, []float64{0.123, 7.2, 0, 0.123, 7.2, 10, 1, 2, 5, 2, 2, 0.05}, values)

	require.Zero(t, fitted.Hold{}.Apply(f, gaps, values, 2))

	f.Domain = domain.All(3)
	f.Domain.Lower[0], f.Domain.Upper[0] = 0.5, 1.8
	f.Domain.Half = []domain.HalfSpace{{A: []float64{0, 1, 1}, B: 3.2}}
	gaps = table(f.Names, []float64{nan, 1, 2}, []float64{nan, 1, 2}, []float64{1, 2, nan}, []float64{1, 2.9, nan})
	values = []float64{0.6, 1, 2, 1.7, 1, 2, 1, 2, 1.15, 1, 2.9, 0.25}
	h = fitted.Hold{Step: []float64{2, 0, 0.5}, Low: []float64{0, 0, 0}, High: []float64{9, 9, 9}}
	require.Equal(t, 2, h.Apply(f, gaps, values, 1))
	// 0 and 2 are outside: as it was; 1.15 → 1; 0.25 → 0.5 is outside, → 0
	require.Equal(t, []float64{0.6, 1, 2, 1.7, 1, 2, 1, 2, 1, 1, 2.9, 0}, values)
}

func TestSummarise(t *testing.T) {
	gaps := table([]string{"a", "b"}, []float64{1, 5}, []float64{3, 6}, []float64{nan, 7})
	columns := fitted.Summarise(gaps, []float64{1, 5, 1, 5, 3, 6, 3, 6, 2, 7, 4, 7}, 2)
	require.Equal(t, []fitted.ColumnSummary{{
		Column: 0, Name: "a", Outside: 0.5,
		Observed: fitted.Moments{N: 2, Mean: 2, SD: math.Sqrt2, Low: 1, High: 3},
		Imputed:  fitted.Moments{N: 2, Mean: 3, SD: math.Sqrt2, Low: 2, High: 4},
	}}, columns)
}

// Far is beyond 6 standard deviations, 34.6; 1.5 ranges are 28.5.
func TestBeyondAndExtrapolated(t *testing.T) {
	table := &data.Table{Names: []string{"volume"}, N: 30, D: 1}
	for i := range 30 {
		table.Values, table.Observed = append(table.Values, float64(i)), append(table.Observed, i >= 10)
	}
	drawn := func(draws int, values ...float64) (beyond, extrapolated []string) { // then 15 again and again
		r := &fitted.Imputed{Draws: draws}
		for i := range 10 * draws {
			v := 15.
			if i < len(values) {
				v = values[i]
			}
			r.Values = append(r.Values, v)
		}
		for range 20 * draws {
			r.Values = append(r.Values, 0) // observed cells
		}
		return r.Beyond(table), r.Extrapolated(table)
	}
	beyond, extrapolated := drawn(3, slices.Repeat([]float64{7}, 10)...)
	require.Empty(t, slices.Concat(beyond, extrapolated))
	beyond, extrapolated = drawn(3, slices.Repeat([]float64{7}, 11)...)
	require.Empty(t, beyond)
	require.Equal(t, []string{"37 % of the draws of volume lie outside the observed range (10 to 29): the model extrapolates; MatchConfig.Donors keeps to observed values"}, extrapolated)
	beyond, extrapolated = drawn(1, 29+36, -20, 29+34, -129)
	require.Equal(t, []string{"2 of 10 draws of volume lie far outside the observed range (10 to 29), for example -129"}, beyond)
	require.Empty(t, extrapolated, "of few draws")
}

func TestMixingConverged(t *testing.T) {
	for m, want := range map[mcmc.Mixing]bool{
		{RHat: 1.05, Worst: 1.2}: true, {RHat: 1.06, Worst: 1.1}: false, {RHat: 1.01, Worst: 1.21}: false,
	} {
		require.Equal(t, want, (&fitted.Mixing{Mixing: m}).Converged(), m)
	}
}
