package trainers

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mixed"
	"missingscore/trainers/fitted"
)

func TestUnlikeInSecondMoments(t *testing.T) {
	table, rng := &data.Table{Names: []string{"x", "y"}, N: 500, D: 2}, stream.New(1)
	for range table.N {
		x := rng.NormFloat64()
		table.Values = append(table.Values, x, 0.8*x+0.6*rng.NormFloat64())
		table.Observed = append(table.Observed, true, true)
	}
	m := mixture.New(1, []int{0, 0})
	saved := &fitted.Saved{Model: model.NewMixed(m)}
	m.Covariances[0] = []float64{1, 0.8, 0.8, 1}
	unlike := func() string {
		_, err := checkOnce(t.Context(), saved, table, new(*mixture.Mixture), mixed.Config{Seed: 1})
		require.NoError(t, err)
		return strings.Join(saved.Check.Off, "; ")
	}
	require.Empty(t, unlike())
	m.Covariances[0] = []float64{1, 0, 0, 1}
	require.Contains(t, unlike(), "the correlation of x and y is 0.")
	m.Covariances[0] = []float64{1, 1.2, 1.2, 2.25}
	require.Contains(t, unlike(), "the standard deviation of y is 1.03, drawn 1.5")
}

// Normals at (0, 0) and (4, 0); y is missing where the observed x is large.
func twoNormals(t *testing.T, share float64, seed uint64) (*mixture.Mixture, *data.Table) {
	m := mixture.New(2, []int{0, 0})
	m.Weights = []float64{share, 1 - share}
	m.Means = [][]float64{{0, 0}, {4, 2}}
	m.Covariances = [][]float64{{1, 0.6, 0.6, 1}, {1, -0.5, -0.5, 0.5}}
	rng := stream.New(seed)
	x := m.Draw(400, rng)
	table := &data.Table{Names: []string{"x", "y"}, N: 400, D: 2, Values: x}
	for i := range table.N {
		seen := rng.Float64() > 0.1
		if x[2*i] > 2 {
			seen = rng.Float64() > 0.7
		}
		if !seen {
			x[2*i+1] = 0
		}
		table.Observed = append(table.Observed, true, seen)
	}
	return m, table
}

// A model without an exact sampler.
func density(m *mixture.Mixture) model.Model {
	n := model.NewMixture(simulate.Mixture{Weights: m.Weights, Means: m.Means, Deviations: [][]float64{{1, 1}, {1, math.Sqrt(0.5)}}})
	return model.FromLogDensity(2, n.Params(), func(b *graph.Builder, x graph.Node) graph.Node { return n.Evaluate(b, x).LogDensity })
}

// A true model passes although observed means differ; one with other shares fails.
func TestCheckUnderMAR(t *testing.T) {
	slowtest.Skip(t, "30 s")
	off := func(m model.Model, table *data.Table, seed uint64) []string {
		s := &fitted.Saved{Model: m, Names: table.Names}
		_, err := checkOnce(t.Context(), s, table, new(*mixture.Mixture), mixed.Config{Seed: seed, Components: 2})
		require.NoError(t, err)
		return s.Check.Off
	}
	for seed := range uint64(20) {
		m, table := twoNormals(t, 0.5, seed)
		seen := table.Column(1)
		require.Less(t, stat.Mean(seen, nil), 0.75, "observed: the true mean is 1")
		require.Empty(t, off(model.NewMixed(m), table, seed), seed)
		m.Weights = []float64{0.2, 0.8}
		require.NotEmpty(t, off(model.NewMixed(m), table, seed), seed)

		m, table = twoNormals(t, 0.5, seed)
		m.Covariances = [][]float64{{1, 0, 0, 1}, {1, 0, 0, 0.5}}
		x := m.Draw(table.N, stream.New(seed, 1))
		rng := stream.New(seed, 2)
		for i := range table.N {
			table.Values[2*i], table.Values[2*i+1] = x[2*i], x[2*i+1]
			table.Observed[2*i+1] = rng.Float64() > 0.1+0.6*max(0, min(1, x[2*i]/4))
		}
		require.Empty(t, off(density(m), table, seed), seed)
		m.Weights = []float64{0.2, 0.8}
		require.NotEmpty(t, off(density(m), table, seed), seed)
	}
}
