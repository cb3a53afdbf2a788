package modeltest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
)

func statements(t *testing.T, c testCase) {
	if _, masked := c.model.(model.MaskConditional); masked {
		return // masks are fixed here
	}
	if m, ok := c.model.(model.Normal); ok {
		c.normal(t, m)
	}
	if m, ok := c.model.(model.Sampler); ok {
		c.sampler(t, m)
	}
	if m, ok := c.model.(model.FixedOrigin); ok {
		require.Greater(t, m.InitialRMS(), 0.0, "InitialRMS")
	}
	training := model.TrainingOf(c.model)
	require.True(t, training.Rate > 0 && training.ImputerRate > 0, "training rates must be positive: %+v", training)
	for _, noising := range []bool{false, true} {
		require.Greater(t, training.Epochs(10, noising), 0, "Epochs")
	}
	if m, ok := c.model.(model.Parametric); ok {
		c.parametric(t, m)
	}
}

func (c testCase) normal(t *testing.T, m model.Normal) {
	const says = "the model declares that it is normal (model.Normal), but is not: does it embed a normal model?"
	_, ok := model.AsNormal(m)
	require.True(t, ok, says+" A normal density's Hessian is constant, too")
	mu, p, s := m.Mean(), m.Precision(), c.score(t, m, c.x)
	for i, got := range s {
		want := 0.0
		for k := range c.d {
			want -= p.At(i%c.d, k) * (c.x[i/c.d*c.d+k] - mu[k])
		}
		require.InDelta(t, want, got, 1e-9, says)
	}
	parts, err := graph.Build(func(b *graph.Builder) { b.Output("precision", b.Scale(1, m.PrecisionNode(b))) })
	require.NoError(t, err)
	require.NoError(t, parts.Run())
	for i, got := range parts.Output("precision") {
		require.InDelta(t, p.At(i/c.d, i%c.d), got, 1e-12, "PrecisionNode is not Precision")
	}
	parts, err = graph.Build(func(b *graph.Builder) { b.Output("mean", b.Scale(1, m.MeanNode(b))) })
	if err != nil {
		return // it may refuse
	}
	require.NoError(t, parts.Run())
	require.InDeltaSlice(t, mu, parts.Output("mean"), 1e-12, "MeanNode is not Mean")
}

// On R^d the score has mean 0 and, by Stein's identity, E[x_j s_j] = −1.
func (c testCase) sampler(t *testing.T, m model.Sampler) {
	const draws = 4000
	x, err := m.SampleRows(draws, c.has.Support, c.rng)
	if errors.Is(err, model.ErrNoExactSampler) {
		return
	}
	require.NoError(t, err)
	require.Len(t, x, draws*c.d)
	for row := range slices.Chunk(x, c.d) {
		require.True(t, c.has.Support.Contains(row), "a draw lies outside the support")
	}
	if c.has.Support.Bounded() {
		return // the identities have boundary terms
	}
	s := c.score(t, m, x)
	for j := range c.d {
		var sum, squares, product, productSquares float64
		for i := j; i < len(s); i += c.d {
			v := s[i] * x[i]
			sum, squares, product, productSquares = sum+s[i], squares+s[i]*s[i], product+v, productSquares+v*v
		}
		within := func(sum, squares, want float64) {
			mean := sum / draws
			se := math.Sqrt((squares/draws - mean*mean) / draws)
			require.InDelta(t, want, mean, 5*se, "draws of column %d do not follow the model's density (model.Sampler): does it embed another model?", j+1)
		}
		within(sum, squares, 0)
		within(product, productSquares, -1)
	}
}

func (c testCase) parametric(t *testing.T, m model.Parametric) {
	before, score := m.Quantities(), slices.Clone(c.score(t, m, c.x))
	for _, p := range m.Params() {
		for i := range p.Value {
			p.Value[i] += 0.1 * c.rng.Float64()
		}
	}
	require.Error(t, m.SetQuantities(nil))
	wrong := m.Quantities()
	wrong[0].Rows++
	require.ErrorContains(t, m.SetQuantities(wrong), "is needed")
	require.NoError(t, m.SetQuantities(before))
	require.InDeltaSlice(t, score, c.score(t, m, c.x), 1e-8, "SetQuantities(Quantities()) changes the model")

	mean, deviation := make([]float64, c.d), make([]float64, c.d)
	for j := range mean {
		deviation[j] = 0.5 + c.rng.Float64()
		mean[j] = c.rng.NormFloat64()
	}
	if _, fixed := c.model.(model.FixedOrigin); fixed {
		require.ErrorContains(t, m.Rescale(mean, deviation), "cannot be shifted")
		clear(mean)
	}
	x := make([]float64, len(c.x))
	for i, z := range c.x {
		x[i] = mean[i%c.d] + deviation[i%c.d]*z
	}
	want := slices.Clone(c.score(t, model.Rescaled{Model: m, Mean: mean, Deviation: deviation}, x))
	require.NoError(t, m.Rescale(mean, deviation))
	require.InDeltaSlice(t, want, c.score(t, m, x), 1e-8, "Rescale does not give the same model in other units")
}
