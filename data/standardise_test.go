package data_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

func TestStandardise(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 3, D: 2,
		Values: []float64{1, 100, 3, math.NaN(), 5, 300}, Observed: []bool{true, true, true, false, true, true}}
	z, scale := data.Standardise(table)
	require.Equal(t, []float64{3, 200}, scale.Mean)
	require.InDeltaSlice(t, []float64{math.Sqrt(8. / 3), 100}, scale.Deviation, 1e-12) // divisor n
	require.InDelta(t, -1, z.Values[1], 1e-12)
	require.InDelta(t, -2/math.Sqrt(8./3), z.Values[0], 1e-12)
	back := scale.Restore(z)
	require.Equal(t, table.Observed, back.Observed)
	for k, seen := range table.Observed {
		if seen {
			require.InDelta(t, table.Values[k], back.Values[k], 1e-12)
		}
	}
	p := scale.Precision(mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1}))
	require.InDelta(t, 2/(8./3), p.At(0, 0), 1e-12)
	require.InDelta(t, 0.5/math.Sqrt(8./3)/100, p.At(0, 1), 1e-12)
	require.InDeltaSlice(t, []float64{3 + 2*math.Sqrt(8./3), 100}, scale.Location([]float64{2, -1}), 1e-12)
}

func TestScaleAboutZero(t *testing.T) {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 10, 3, 0, -2, 30}, []bool{true, true, true, false, true, true})
	require.NoError(t, err)
	scaled, scale := data.ScaleAboutZero(table, 0.5)
	require.Equal(t, []float64{0, 0}, scale.Mean)
	require.InDelta(t, math.Sqrt(14./3)/0.5, scale.Deviation[0], 1e-12)
	require.InDelta(t, math.Sqrt(500.)/0.5, scale.Deviation[1], 1e-12)
	require.InDelta(t, 30/(math.Sqrt(500.)/0.5), scaled.Values[5], 1e-12)
	require.False(t, scaled.Observed[3])
	back := scale.Restore(scaled)
	require.InDeltaSlice(t, table.Values, back.Values, 1e-12)
}

// Sums and squares of columns near the limits stay inside float64.
func TestStandardiseAtTheLimits(t *testing.T) {
	for _, unit := range []float64{1e-149, 1e-120, 1, 1e120, 1e150} {
		n := 1001
		table := &data.Table{Names: []string{"a"}, N: n, D: 1, Observed: make([]bool, n)}
		for i := range n {
			table.Values, table.Observed[i] = append(table.Values, unit*float64(i%2)), true
		}
		_, s := data.Standardise(table)
		p := 500. / 1001
		require.InEpsilon(t, p, s.Mean[0]/unit, 1e-14)
		require.InEpsilon(t, math.Sqrt(p*(1-p)), s.Deviation[0]/unit, 1e-14)
	}
	outlier := &data.Table{Names: []string{"a"}, N: 3, D: 1, Values: []float64{1e150, 1e150, 1e150 * (1 + 1e-15)}, Observed: []bool{true, true, true}}
	_, s := data.Standardise(outlier)
	require.InEpsilon(t, 1e135*math.Sqrt(2./9), s.Deviation[0], 0.2) // five units of the last place
}
