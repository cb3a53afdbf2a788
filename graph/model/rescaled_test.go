package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
)

func TestRescaled(t *testing.T) {
	mean, sd := []float64{1, -2, 3, 0, 0.5}, []float64{2, 0.5, 1.5, 1, 3}
	modeltest.Run(t, func(d int) model.Model {
		return model.Rescaled{Model: newMixture(t, randomMixture(d, 2)), Mean: mean[:d], Deviation: sd[:d]}
	})
}

type scoreOnly struct{ *model.Gaussian }

func (m scoreOnly) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := m.Gaussian.Evaluate(b, x)
	t.LogDensity = nil
	return t
}

func TestRescaledKeepsWhatThereIs(t *testing.T) {
	m := scoreOnly{model.NewGaussian(2, model.CholeskyFactor)}
	require.NoError(t, m.SetPrecision(mat.NewSymDense(2, []float64{1, 0.2, 0.2, 2})))
	log, score, _, _ := termsAt(t, model.Rescaled{Model: m, Mean: []float64{0, 1}, Deviation: []float64{1, 2}}, graph.Float64, []float64{1, 1}, []float64{0, 0})
	require.Nil(t, log)
	require.InDeltaSlice(t, []float64{-1, -0.1}, score, 1e-12)

	for want, bad := range map[string]model.Rescaled{
		"1 means and 2 standard deviations for 2 columns": {Model: m, Mean: []float64{1}, Deviation: []float64{1, 2}},
		"the standard deviation of column 2 is 0":         {Model: m, Mean: []float64{1, 1}, Deviation: []float64{1, 0}},
	} {
		_, err := graph.Build(func(b *graph.Builder) { b.Output("score", bad.Evaluate(b, b.Input("x", 1, 2)).Score) })
		require.ErrorContains(t, err, want)
	}
}
