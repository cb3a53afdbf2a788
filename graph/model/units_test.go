package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
)

// In units far apart the mean of η = Pμ and P is the same mean: times the units.
func TestMeanInUnitsFarApart(t *testing.T) {
	precision := mat.NewSymDense(2, []float64{2, 0.7, 0.7, 1})
	for _, unit := range [][]float64{{1, 1}, {1e120, 1e-120}, {1e-140, 3}, {1e150, 1e150}} {
		g := model.NewGaussian(2, model.Natural)
		require.NoError(t, g.SetPrecision(precision))
		g.SetMean([]float64{0.5, -0.3})
		require.NoError(t, g.Rescale([]float64{0, 0}, unit))
		mean := g.Mean()
		require.InEpsilon(t, 0.5, mean[0]/unit[0], 1e-12)
		require.InEpsilon(t, -0.3, mean[1]/unit[1], 1e-12)
	}
}

// Coefficients of the quartic have the units 1/(x² y²): representable or refused.
func TestQuarticInUnitsFarApart(t *testing.T) {
	quartic := func() *model.Quartic {
		q := model.NewQuartic(2)
		require.NoError(t, q.SetTheta(mat.NewSymDense(2, []float64{-1, 0.2, 0.2, -1})))
		return q
	}
	q := quartic()
	require.NoError(t, q.Rescale([]float64{0, 0}, []float64{1e70, 1e-70}))
	require.InEpsilon(t, -1e-280, q.Theta().At(0, 0), 1e-9)
	require.InEpsilon(t, 0.2, q.Theta().At(0, 1), 1e-9)
	for _, unit := range []float64{1e-120, 1e120} {
		require.ErrorContains(t, quartic().Rescale([]float64{0, 0}, []float64{unit, unit}), "beyond the numbers of float64")
	}
}
