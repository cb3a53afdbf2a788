package fitted

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// a is the right weights divided by the wrong ones, times w.
func TestTiltOfKnownShares(t *testing.T) {
	of := simulate.Mixture{Weights: []float64{0.35, 0.65}, Means: [][]float64{{0, 0}, {5, 3}}, Deviations: [][]float64{{1, 0.5}, {0.7, 1}}}
	rng := stream.New(1)
	x := of.Draw(1500, rng)
	table := &data.Table{Names: []string{"a", "b"}, N: 1500, D: 2, Values: x}
	for range x {
		table.Observed = append(table.Observed, rng.Float64() > 0.3)
	}
	m := mixture.New(2, []int{0, 0})
	m.Weights, m.Means = []float64{0.5, 0.5}, [][]float64{{0.1, 0}, {4.9, 3}}
	m.Covariances = [][]float64{{1.2, 0, 0, 0.3}, {0.6, 0, 0, 1.1}}
	of.Weights = []float64{0.9, 0.1} // of the model
	q := model.NewMixture(of)
	var draws []float64
	first, given := []int{0}, m.ByPattern()
	for i := range table.N {
		for range gapDraws {
			draws = append(draws, x[2*i:2*i+2]...)
			given(table.Observed[2*i:2*i+2]).Complete(draws[len(draws)-2:], rng)
		}
		first = append(first, len(draws)/2)
	}
	draws = append(draws, m.Draw(pooledDraws, rng)...)
	omega, err := weigh(t.Context(), q, nil, m, draws, pooledDraws)
	require.NoError(t, err)
	a := tiltOf(m, draws, omega, first)
	b := []float64{a[0] / m.Weights[0] * 0.9, a[1] / m.Weights[1] * 0.1}
	floats.Scale(1/floats.Sum(b), b)
	require.InDelta(t, 0.35, b[0], 0.03)
}

func TestTiltAgain(t *testing.T) {
	e, err := nets.NewEnergy(2, nets.NetworkOptions{Hidden: []int{8}}, stream.New(1))
	require.NoError(t, err)
	of := simulate.Mixture{Weights: []float64{0.2, 0.8}, Means: [][]float64{{-1, 0}, {1, 1}}, Deviations: [][]float64{{0.7, 1}, {0.7, 1}}}
	table := &data.Table{Names: []string{"a", "b"}, N: 300, D: 2, Values: of.Draw(300, stream.New(2)), Observed: slices.Repeat([]bool{true}, 600)}
	m := mixture.New(2, []int{0, 0})
	m.Weights, m.Means = []float64{0.5, 0.5}, of.Means
	s := &Saved{Model: e, Names: table.Names}
	tilt := func() (values []float64) {
		_, err := Complete(t.Context(), s, table, m, 1)
		require.NoError(t, err)
		for _, q := range s.Model.Params() {
			values = append(values, q.Value...)
		}
		return values
	}
	require.Equal(t, tilt(), tilt())
}
