package star

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// By hand: of rows (1, 2, ·), (2, 1, 5), (3, ·, 7), (6, 6, 6), over those that have both.
func TestCorrelationsOfPairs(t *testing.T) {
	nan := math.NaN()
	c := correlations(&data.Table{N: 4, D: 3, Values: []float64{1, 2, nan, 2, 1, 5, 3, nan, 7, 6, 6, 6},
		Observed: []bool{true, true, false, true, true, true, true, false, true, true, true, true}})
	require.InDelta(t, 13/14., c.At(0, 1), 1e-12)               // deviations −2 −1 3 and −1 −2 3
	require.InDelta(t, 1, c.At(1, 2), 1e-12)                    // two rows, both rise
	require.InDelta(t, 1/math.Sqrt(26./3*2), c.At(0, 2), 1e-12) // deviations −5/3 −2/3 7/3 and −1 1 0
}

func TestPartialCorrelationsAndRanks(t *testing.T) {
	p := mat.NewSymDense(3, []float64{2, -1, 0, -1, 4, 0.2, 0, 0.2, 1})
	var c mat.Dense
	require.NoError(t, c.Inverse(p))
	got, err := partialCorrelations(mat.NewSymDense(3, c.RawMatrix().Data))
	require.NoError(t, err)
	require.InDelta(t, 1/math.Sqrt(8), got.At(0, 1), 1e-12)
	require.InDelta(t, -0.1, got.At(1, 2), 1e-12)
	require.InDelta(t, 0, got.At(0, 2), 1e-12)

	of, err := ranked(got, data.Gaussian{Precision: p}) // edges 01 and 12, before 02
	require.NoError(t, err)
	require.Equal(t, 1.0, of)
	got.SetSym(0, 2, 0.2) // between them
	of, err = ranked(got, data.Gaussian{Precision: p})
	require.NoError(t, err)
	require.InDelta(t, 0.5, of, 1e-12)
	_, err = partialCorrelations(mat.NewSymDense(2, []float64{1, 1, 1, 1}))
	require.Error(t, err)
}
