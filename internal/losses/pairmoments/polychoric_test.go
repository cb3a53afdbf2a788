package pairmoments_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/transform"
	"missingscore/internal/losses/pairmoments"
)

// Five columns drawn in R 4.2.2 (set.seed(7)): a, b, c, e ordinal, d standardised numbers.
func items(t *testing.T, file string) *data.Table {
	t.Helper()
	table, err := data.ReadCSV(file, data.ReadOptions{})
	require.NoError(t, err)
	functions, err := transform.Spec{Columns: map[string]string{"a": "ordinal", "b": "ordinal", "c": "ordinal", "e": "ordinal"}}.Fit(table, nil)
	require.NoError(t, err)
	latent, err := functions.Table(table)
	require.NoError(t, err)
	z, _ := data.Standardise(latent)
	return z
}

// lavCor(x, ordered = c("a", "b", "c", "e"), missing = "pairwise") of lavaan 0.6-14, lower
// triangles by columns; polychoric(x, correct = 0, smooth = FALSE) of psych 2.2.9 agrees.
func TestCorrelationsOfLatentNumbersAreThoseOfLavaan(t *testing.T) {
	for file, want := range map[string][]float64{
		"testdata/items.csv":      {0.571229, -0.471627, 0.459609, 0.154585, -0.319860, 0.472230, 0.147176, -0.261085, 0.265978, 0.250000},
		"testdata/items_gaps.csv": {0.535401, -0.445856, 0.541975, 0.053491, -0.294743, 0.471599, 0.123719, -0.369583, 0.364792, 0.190817},
	} {
		z := items(t, file)
		m, err := pairmoments.Of(t.Context(), z, z.AllRows(), nil, 1)
		require.NoError(t, err)
		for j := range z.D {
			require.InDelta(t, 1, m.S[j*z.D+j], 1e-12)
			for k := j + 1; k < z.D; k++ {
				require.InDelta(t, want[0], m.S[j*z.D+k], 2e-6, "%s: %s, %s", file, z.Names[j], z.Names[k])
				require.Equal(t, m.S[j*z.D+k], m.S[k*z.D+j])
				want = want[1:]
			}
		}
		twice := make([]float64, z.N)
		for i := range twice {
			twice[i] = 2
		}
		weighted, err := pairmoments.Of(t.Context(), z, z.AllRows(), twice, 2)
		require.NoError(t, err)
		require.InDeltaSlice(t, m.S, weighted.S, 1e-8)
		for i := range z.N {
			z.Values[i*z.D+3] *= 3
		}
		other, err := pairmoments.Of(t.Context(), z, z.AllRows(), nil, 1)
		require.NoError(t, err)
		require.InDelta(t, 3*m.S[3], other.S[3], 1e-8, "in the units of the number")
		require.InDelta(t, 9, other.S[3*z.D+3], 1e-9)
	}
}

// Two by two at the medians: ρ = sin(2π(π_11 − ¼)). With an empty cell, lavCor as above.
func TestTetrachoric(t *testing.T) {
	require.InDelta(t, math.Sin(2*math.Pi*(0.4-0.25)), pairmoments.Polychoric([][]float64{{40, 10}, {10, 40}}, []float64{0}, []float64{0}), 1e-9)
	require.InDelta(t, -math.Sin(2*math.Pi*(0.45-0.25)), pairmoments.Polychoric([][]float64{{5, 45}, {45, 5}}, []float64{0}, []float64{0}), 1e-9)
	quantile := distuv.UnitNormal.Quantile
	require.InDelta(t, 0.865152, pairmoments.Polychoric([][]float64{{12, 0}, {5, 9}}, []float64{quantile(12. / 26)}, []float64{quantile(17. / 26)}), 2e-5)
	require.InDelta(t, 0.9999, pairmoments.Polychoric([][]float64{{10, 0}, {0, 10}}, []float64{0}, []float64{0}), 1e-12)
	require.Zero(t, pairmoments.Polychoric([][]float64{{0, 0}, {0, 0}}, []float64{0}, []float64{0}))
}

func TestLatentCorrelationsAreShrunkWithoutGaps(t *testing.T) {
	const n, d = 20, 12
	table := gapped(t, n, d, 0)
	for j := range d {
		table.Cuts = append(table.Cuts, []float64{[]float64{0, 0.8}[j%2]})
	}
	m, err := pairmoments.Of(t.Context(), table, table.AllRows(), nil, 1)
	require.NoError(t, err)
	require.NoError(t, m.Shrink(t.Context(), 1))
	require.Less(t, m.Lowest, -0.01)
	require.InDelta(t, 0, least(m.S, d), 1e-6)
}
