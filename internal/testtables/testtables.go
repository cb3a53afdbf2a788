// Package testtables has simulated tables and comparisons for tests.
package testtables

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// Star is a simulated star network with gaps.
func Star(t testing.TB, d, n int, missing float64) (simulate.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(1, stream.Simulate)
	g, err := simulate.Star(d, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, missing, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return g, table
}

// Normal is an incomplete table of four columns and its truth.
func Normal(t testing.TB, n int, seed uint64) (simulate.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(seed, stream.Simulate)
	g, err := simulate.Normal(4, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.4, rng)
	require.NoError(t, err)
	return g, table
}

// Pair is N((½, −0.3), P⁻¹) with self-masking that also looks at the other column, and thresholds.
func Pair() (g simulate.Gaussian, logistic, censored *missingness.Model) {
	g = simulate.Gaussian{Mean: []float64{0.5, -0.3}, Precision: mat.NewSymDense(2, []float64{1.2, 0.5, 0.5, 1})}
	l := missingness.NewLogistic(2)
	l.Intercept[0], l.Intercept[1] = 0.8, 0.6
	l.Slope.SetRow(0, []float64{-1.5, 0.5})
	l.Slope.SetRow(1, []float64{0, 1.2})
	inf := math.Inf(1)
	return g, &missingness.Model{Logistic: l}, &missingness.Model{Censored: &missingness.Censored{Below: []float64{-inf, -0.8}, Above: []float64{1, inf}}}
}

// At is a Gaussian model with these parameters.
func At(t testing.TB, g simulate.Gaussian) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(len(g.Mean), model.CholeskyFactor)
	m.SetMean(g.Mean)
	require.NoError(t, m.SetPrecision(g.Precision))
	return m
}

// MeanSE are the means of repeated gradients and their standard errors.
func MeanSE(repeats int, gradient func(k int) []float64) (mean, se []float64) {
	n := float64(repeats)
	for k := range repeats {
		g := gradient(k)
		if k == 0 {
			mean, se = make([]float64, len(g)), make([]float64, len(g))
		}
		for i, v := range g {
			mean[i] += v / n
			se[i] += v * v / n
		}
	}
	for i, square := range se {
		se[i] = math.Sqrt(max(square-mean[i]*mean[i], 0) / (n - 1))
	}
	return mean, se
}

// Gradient compares a program's gradient with central differences of f, by default of its loss.
func Gradient(t testing.TB, p *graph.Program, params []*graph.Param, most float64, f func() float64) {
	t.Helper()
	diff, err := gradcheck.Params(p, params, gradcheck.Step, func() (float64, error) {
		if f != nil {
			return f(), nil
		}
		err := p.Run()
		return p.Loss(), err
	})
	require.NoError(t, err)
	require.Less(t, diff.Error, most, "%+v", diff)
	size := 0
	for _, q := range params {
		size += len(q.Value)
	}
	require.Equal(t, size, diff.Compared)
}

// Changed is a model with changed parts of its evaluation.
type Changed struct {
	model.Model
	Change func(*model.Evaluation)
}

func (m Changed) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := m.Model.Evaluate(b, x)
	m.Change(&t)
	return t
}

// ScoreAlone is a model without a log density.
func ScoreAlone(m model.Model) model.Model {
	return Changed{m, func(t *model.Evaluation) { t.LogDensity = nil }}
}
