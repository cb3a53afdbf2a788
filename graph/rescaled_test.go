package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/modeltest"
)

func TestRescaled(t *testing.T) {
	mean, sd := []float64{1, -2, 3, 0, 0.5}, []float64{2, 0.5, 1.5, 1, 3}
	modeltest.Run(t, func(d int) graph.Model {
		return graph.Rescaled{Model: newMixture(t, randomMixture(d, 2)), Mean: mean[:d], Deviation: sd[:d]}
	})
}

// The normal's own Rescale is the outside truth.
func TestRescaledGaussian(t *testing.T) {
	const d = 3
	z, x := graph.NewGaussian(d, graph.CholeskyFactor), graph.NewGaussian(d, graph.CholeskyFactor)
	for _, g := range []*graph.Gaussian{z, x} {
		require.NoError(t, g.SetPrecision(randomPrecision(d, 5)))
		g.SetMean([]float64{0.3, -0.2, 1})
	}
	mean, sd := []float64{1, -2, 3}, []float64{2, 0.5, 1.5}
	require.NoError(t, x.Rescale(mean, sd))
	rows, v := draws(6*d, 2), draws(6*d, 1)
	log, score, diagonal, product := termsAt(t, graph.Rescaled{Model: z, Mean: mean, Deviation: sd}, graph.Float64, rows, v)
	wantLog, wantScore, wantDiagonal, wantProduct := termsAt(t, x, graph.Float64, rows, v)
	require.InDeltaSlice(t, wantLog, log, 1e-11)
	require.InDeltaSlice(t, wantScore, score, 1e-11)
	require.InDeltaSlice(t, wantDiagonal, diagonal, 1e-11)
	require.InDeltaSlice(t, wantProduct, product, 1e-11)
}

// scoreOnly is a model without a log density.
type scoreOnly struct{ *graph.Gaussian }

func (m scoreOnly) Terms(b *graph.Builder, x graph.Node) graph.Terms {
	t := m.Gaussian.Terms(b, x)
	t.LogDensity = nil
	return t
}

func TestRescaledKeepsWhatThereIs(t *testing.T) {
	m := scoreOnly{graph.NewGaussian(2, graph.CholeskyFactor)}
	require.NoError(t, m.SetPrecision(mat.NewSymDense(2, []float64{1, 0.2, 0.2, 2})))
	log, score, _, _ := termsAt(t, graph.Rescaled{Model: m, Mean: []float64{0, 1}, Deviation: []float64{1, 2}}, graph.Float64, []float64{1, 1}, []float64{0, 0})
	require.Nil(t, log)
	require.InDeltaSlice(t, []float64{-1, -0.1}, score, 1e-12)

	for want, bad := range map[string]graph.Rescaled{
		"1 means and 2 deviations for 2 columns": {Model: m, Mean: []float64{1}, Deviation: []float64{1, 2}},
		"the deviation of column 2 is 0":         {Model: m, Mean: []float64{1, 1}, Deviation: []float64{1, 0}},
	} {
		_, err := graph.Build(func(b *graph.Builder) { b.Output("score", bad.Terms(b, b.Input("x", 1, 2)).Score) })
		require.ErrorContains(t, err, want)
	}
}
