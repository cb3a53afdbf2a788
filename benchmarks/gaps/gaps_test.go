package gaps

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// The second and fourth column correlate by 0.8.
func pairs(t *testing.T, n int) *data.Table {
	sigma := mat.NewSymDense(4, []float64{1, 0, 0, 0, 0, 1, 0, 0.8, 0, 0, 1, 0, 0, 0.8, 0, 1})
	var p mat.Dense
	require.NoError(t, p.Inverse(sigma))
	precision := mat.NewSymDense(4, nil)
	for j := range 4 {
		for k := j; k < 4; k++ {
			precision.SetSym(j, k, p.At(j, k))
		}
	}
	table, err := simulate.Gaussian{Mean: make([]float64, 4), Precision: precision}.Sample(n, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	return table
}

func share(t *data.Table, j int, where func(row []float64) bool, of *data.Table) float64 {
	hidden, rows := 0., 0.
	for i := range t.N {
		if where(of.Values[i*t.D : (i+1)*t.D]) {
			if rows++; !t.Observed[i*t.D+j] {
				hidden++
			}
		}
	}
	return hidden / rows
}

// P(hidden | z > 0) = 2 ∫_0^∞ σ(a + 2z) φ(z) dz with ∫ σ(a + 2z) φ(z) dz = 0.3, within four
// standard errors.
func TestLaws(t *testing.T) {
	const n = 20000
	table := pairs(t, n)
	everywhere := func([]float64) bool { return true }
	within := func(want, got float64, rows float64) {
		t.Helper()
		require.InDelta(t, want, got, 4*math.Sqrt(want*(1-want)/rows))
	}
	mcar, err := Law{Missing: 0.3}.Hide(table, 1)
	require.NoError(t, err)
	for j := range 4 {
		within(0.3, share(mcar, j, everywhere, table), n)
		within(0.3, share(mcar, j, func(x []float64) bool { return x[0] > 0 }, table), n/2)
	}
	require.Equal(t, []int{0, 3}, stay(table))
	mar, err := Law{Missing: 0.3, Slope: 2}.Hide(table, 1)
	require.NoError(t, err)
	require.Zero(t, share(mar, 0, everywhere, table))
	require.Zero(t, share(mar, 3, everywhere, table))
	within(0.3, share(mar, 1, everywhere, table), n)
	within(0.3, share(mar, 2, everywhere, table), n)
	of := func(a float64, from float64) (sum float64) {
		const step = 1e-3
		for z := from + step/2; z < 8; z += step {
			sum += logistic(a+2*z) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * step
		}
		return sum
	}
	low, high := -10., 10.
	for range 60 {
		if a := (low + high) / 2; of(a, -8) > 0.3 {
			high = a
		} else {
			low = a
		}
	}
	within(2*of(low, 0), share(mar, 1, func(x []float64) bool { return x[3] > 0 }, table), n/2) // the guide of x2 is x4
	again, err := Law{Missing: 0.3, Slope: 2}.Hide(table, 1)
	require.NoError(t, err)
	require.Equal(t, mar, again)
}

func TestTablesWithGaps(t *testing.T) {
	table := pairs(t, 2000)
	for i := range table.N {
		table.Observed[i*4] = i%2 == 0
		if i%2 == 1 {
			table.Values[i*4] = math.NaN()
		}
	}
	require.Equal(t, []int{3, 1}, stay(table))
	hidden, err := Law{Missing: 0.2, Slope: 5}.Hide(table, 3)
	require.NoError(t, err)
	for k, seen := range table.Observed {
		require.False(t, hidden.Observed[k] && !seen)
	}
	one, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 4, 5, 7}, nil)
	require.NoError(t, err)
	_, err = Law{Missing: 0.999}.Hide(one, 1)
	require.Error(t, err)
}

// Rows with equal guides have equal probabilities. With "cell" P(hidden | z > 0) − 0.3 = ±(∫_0^∞
// 2σ(a + z) φ(z) dz − 0.3).
func TestLogisticLaws(t *testing.T) {
	const n = 20000
	table := pairs(t, n)
	hidden, err := Law{Missing: 0.3, By: "guides"}.Hide(table, 2)
	require.NoError(t, err)
	require.InDelta(t, 0.3, float64(hidden.Missing())/4/n, 0.01)
	guide := -1
	for j := range 4 {
		if share(hidden, j, func([]float64) bool { return true }, table) == 0 {
			require.Equal(t, -1, guide)
			guide = j
		}
	}
	same := *table
	same.Values = slices.Clone(table.Values)
	for i := range n {
		for j := range 4 {
			if j != guide {
				same.Values[i*4+j] = math.Sin(float64(i * (j + 2)))
			}
		}
	}
	other, err := Law{Missing: 0.3, By: "guides"}.Hide(&same, 2)
	require.NoError(t, err)
	require.Equal(t, hidden.Observed, other.Observed)
	cell, err := Law{Missing: 0.3, By: "cell"}.Hide(table, 2)
	require.NoError(t, err)
	above, a := 0., -1.0184 // a: ∫ σ(a + z) φ(z) dz = 0.3
	all := 0.
	for z := -8 + 5e-4; z < 8; z += 1e-3 {
		weight := logistic(a+z) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 1e-3
		if all += weight; z > 0 {
			above += 2 * weight
		}
	}
	require.InDelta(t, 0.3, all, 1e-3)
	for j := range 4 {
		require.InDelta(t, 0.3, share(cell, j, func([]float64) bool { return true }, table), 0.015)
		require.InDelta(t, above-0.3, math.Abs(share(cell, j, func(x []float64) bool { return x[j] > 0 }, table)-0.3), 0.02)
	}
}
