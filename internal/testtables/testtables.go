// Package testtables has simulated tables and comparisons for tests.
package testtables

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
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
	return g, Sampled(t, g, nil, n, 0.4, rng)
}

// Sampled draws n rows within s, nil for R^d, and hides each cell with probability missing.
func Sampled(
	t testing.TB, g simulate.Gaussian, s *domain.Domain, n int, missing float64, rng *rand.Rand,
) *data.Table {
	t.Helper()
	table, err := g.SampleInside(s, n, rng)
	require.NoError(t, err)
	if missing == 0 {
		return table
	}
	table, err = data.HideMCAR(table, missing, rng)
	require.NoError(t, err)
	return table
}

// Rows is a table of these rows, NaN where a cell is missing.
func Rows(names []string, rows ...[]float64) *data.Table {
	t := &data.Table{Names: names, N: len(rows), D: len(names)}
	for _, v := range slices.Concat(rows...) {
		t.Values, t.Observed = append(t.Values, v), append(t.Observed, !math.IsNaN(v))
	}
	return t
}

// Inverse of a positive definite matrix.
func Inverse(t testing.TB, p mat.Symmetric) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	var inverse mat.SymDense
	require.True(t, c.Factorize(p))
	require.NoError(t, c.InverseTo(&inverse))
	return &inverse
}

// Must is v. An error panics: for the steps that prepare a test.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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
