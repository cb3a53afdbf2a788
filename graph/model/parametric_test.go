package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// For every model with quantities: another model takes them over, and rescaling
// gives the density of x = m + s z, so log q_x(x) − log q_z(z) is constant and scores
// differ by the factor 1/s.
func TestParametric(t *testing.T) {
	for name := range model.Models {
		t.Run(name, func(t *testing.T) { parametric(t, name) })
	}
}

func make2(n int) []float64 { return make([]float64, n) }

func parametric(t *testing.T, name string) {
	const d, n = 3, 5
	make := func() model.Parametric {
		m, err := model.New(name, d, nil, stream.New(1))
		require.NoError(t, err)
		p, ok := m.(model.Parametric)
		if !ok {
			t.Skip("has none")
		}
		return p
	}
	m, other := make(), make()
	rng := stream.New(1, 1)
	for _, p := range m.Params() {
		for i := range p.Value {
			p.Value[i] += 0.3 * rng.NormFloat64()
		}
	}
	require.NoError(t, other.SetQuantities(m.Quantities()))
	for i, q := range m.Quantities() {
		require.InDeltaSlice(t, q.Value, other.Quantities()[i].Value, 1e-12)
		require.Len(t, q.Value, q.Rows*q.Cols)
	}
	mean, sd := []float64{1, -2, 3}, []float64{2, 0.5, 1.5}
	if _, about := m.(model.FixedOrigin); about {
		require.ErrorContains(t, other.Rescale(mean, sd), "cannot be shifted")
		mean = []float64{0, 0, 0}
	}
	require.NoError(t, other.Rescale(mean, sd))
	at := func(m model.Model, x []float64) (log, score []float64) {
		p, err := graph.Build(func(b *graph.Builder) {
			terms := m.Evaluate(b, b.Input("x", n, d))
			b.Output("log", terms.LogDensity)
			b.Output("score", terms.Score)
		})
		require.NoError(t, err)
		copy(p.Input("x"), x)
		require.NoError(t, p.Run())
		return p.Output("log"), p.Output("score")
	}
	z, x := make2(n*d), make2(n*d)
	for i := range z {
		z[i] = rng.NormFloat64()
		x[i] = mean[i%d] + sd[i%d]*z[i]
	}
	logZ, scoreZ := at(m, z)
	logX, scoreX := at(other, x)
	for i := range n {
		require.InDelta(t, logZ[i]-logZ[0], logX[i]-logX[0], 1e-9*(1+math.Abs(logZ[i])))
		for j := range d {
			require.InDelta(t, scoreZ[i*d+j]/sd[j], scoreX[i*d+j], 1e-9*(1+math.Abs(scoreZ[i*d+j])))
		}
	}
	require.Error(t, other.SetQuantities(nil))
	bad := m.Quantities()
	bad[0].Rows++
	require.ErrorContains(t, other.SetQuantities(bad), "is needed")
}
