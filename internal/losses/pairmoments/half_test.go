package pairmoments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// chain is a table of so many columns, each of which depends on the one before, a fifth of the
// cells missing.
func chain(t *testing.T, n, d int) *data.Table {
	rng := stream.New(1, stream.Simulate)
	table := &data.Table{N: n, D: d, Names: make([]string, d)}
	for range n {
		before := 0.0
		for range d {
			before = 0.6*before + 0.8*rng.NormFloat64()
			table.Values, table.Observed = append(table.Values, before), append(table.Observed, true)
		}
	}
	table, err := data.HideMCAR(table, 0.2, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return table
}

// Half of the matrix has the numbers of the whole, to the byte, raw and shrunk, for any number of
// workers; it is held where the whole takes more than may be used.
func TestHalfHasTheNumbersOfTheWhole(t *testing.T) {
	const n, d = 40, 2*pairmoments.HalfTile + 9
	table := chain(t, n, d)
	of := func(limit string, workers int) *pairmoments.Moments {
		t.Setenv(memory.Variable, limit)
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		m, err := pairmoments.Of(t.Context(), table, rows, nil, workers)
		require.NoError(t, err)
		require.NoError(t, m.Shrink(t.Context(), workers))
		return m
	}
	for _, workers := range []int{1, 3} {
		whole := of("1GB", 2)
		require.Nil(t, whole.Half)
		require.Negative(t, whole.Lowest)
		half := of("1MB", workers)
		require.Nil(t, half.S)
		require.Equal(t, []float64{whole.Lowest, whole.Noise, whole.Shrunk, whole.Moved, whole.Pairs, whole.Least}, []float64{half.Lowest, half.Noise, half.Shrunk, half.Moved, half.Pairs, half.Least})
		space := make([]float64, pairmoments.HalfTile)
		for _, alpha := range []float64{half.Shrunk, 0} {
			whole.ShrinkTo(alpha)
			half.ShrinkTo(alpha)
			for j := range d {
				for k := range d {
					require.Equal(t, whole.S[j*d+k], half.Element(j, k))
				}
				require.Equal(t, whole.At(0.5, j, 7), half.At(0.5, j, 7))
				for k0 := 0; k0 < d; k0 += pairmoments.HalfTile {
					wide := min(pairmoments.HalfTile, d-k0)
					require.Equal(t, whole.S[j*d+k0:][:wide], half.Half.Part(j, k0, space[:wide]))
				}
			}
		}
	}
}
