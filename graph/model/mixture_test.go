package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

func randomMixture(d, k int) simulate.Mixture {
	rng := stream.New(11, uint64(d), uint64(k))
	var m simulate.Mixture
	for range k {
		mean, sd := make([]float64, d), make([]float64, d)
		for j := range d {
			mean[j], sd[j] = 1.5*rng.NormFloat64(), 0.4+rng.Float64()
		}
		m.Weights = append(m.Weights, 0.2+rng.Float64())
		m.Means = append(m.Means, mean)
		m.Deviations = append(m.Deviations, sd)
	}
	return m
}

func newMixture(t *testing.T, of simulate.Mixture) *model.Mixture {
	t.Helper()
	m, err := model.NewMixture(of)
	require.NoError(t, err)
	return m
}

func TestMixture(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return newMixture(t, randomMixture(d, 3)) })
	modeltest.Run(t, func(d int) model.Model { return newMixture(t, randomMixture(d, 1)) })
}

func termsAt(t *testing.T, m model.Model, dtype graph.DType, x, v []float64) (log, score, diagonal, product []float64) {
	t.Helper()
	d := m.Dim()
	p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
		terms := m.Evaluate(b, b.Input("x", len(x)/d, d))
		if terms.LogDensity != nil {
			b.Output("log", terms.LogDensity)
		}
		b.Output("score", terms.Score)
		b.Output("diagonal", terms.Diagonal)
		b.Output("product", terms.HessianProduct(b.Input("v", len(x)/d, d)))
	})
	require.NoError(t, err)
	copy(p.Input("x"), x)
	copy(p.Input("v"), v)
	require.NoError(t, p.Run())
	if p.HasOutput("log") {
		log = p.Output("log")
	}
	return log, p.Output("score"), p.Output("diagonal"), p.Output("product")
}

func TestMixtureAgainstDistmv(t *testing.T) {
	const d, n, h = 3, 8, 1e-5
	of := randomMixture(d, 4)
	total := floats.Sum(of.Weights)
	logDensity := func(x []float64) float64 {
		logs := make([]float64, len(of.Weights))
		for k, w := range of.Weights {
			variances := make([]float64, d)
			floats.MulTo(variances, of.Deviations[k], of.Deviations[k])
			normal, ok := distmv.NewNormal(of.Means[k], mat.NewDiagDense(d, variances), nil)
			require.True(t, ok)
			logs[k] = math.Log(w/total) + normal.LogProb(x)
		}
		return floats.LogSumExp(logs)
	}
	x := draws(n*d, 2)
	log, score, diagonal, _ := termsAt(t, newMixture(t, of), graph.Float64, x, x)
	for i := range n {
		row := x[i*d : i*d+d]
		centre := logDensity(row)
		require.InDelta(t, centre+float64(d)/2*math.Log(2*math.Pi), log[i], 1e-12)
		for j := range d {
			at := func(step float64) float64 {
				moved := append([]float64(nil), row...)
				moved[j] += step
				return logDensity(moved)
			}
			require.InDelta(t, (at(h)-at(-h))/(2*h), score[i*d+j], 1e-7)
			require.InDelta(t, (at(100*h)-2*centre+at(-100*h))/(1e4*h*h), diagonal[i*d+j], 1e-4)
		}
	}
}

func draws(n int, size float64) []float64 {
	rng := stream.New(12, 12)
	x := make([]float64, n)
	for i := range x {
		x[i] = size * rng.NormFloat64()
	}
	return x
}

func TestMixtureFarOut(t *testing.T) {
	m := newMixture(t, simulate.Moons())
	_, score, diagonal, _ := termsAt(t, m, graph.Float64, []float64{1e3, 0.2}, []float64{1, 0})
	require.InDelta(t, -1e5, score[0], 300)
	require.InDelta(t, -100, diagonal[0], 20)
	_, single, _, _ := termsAt(t, m, graph.Float32, []float64{1e3, 0.2}, []float64{1, 0})
	require.InEpsilon(t, score[0], single[0], 1e-5)
}

func TestMixtureSamples(t *testing.T) {
	const d, n = 2, 40000
	of := randomMixture(d, 3)
	m := newMixture(t, of)
	x, err := m.SampleRows(n, nil, stream.New(13, 1))
	require.NoError(t, err)
	again, err := m.SampleRows(n, nil, stream.New(13, 1))
	require.NoError(t, err)
	require.Equal(t, x, again)
	box := domain.All(d)
	box.Lower[0] = 0
	_, err = m.SampleRows(n, box, stream.New(13, 1))
	require.ErrorIs(t, err, model.ErrNoExactSampler)
	weights := make([]float64, 3)
	floats.ScaleTo(weights, 1/floats.Sum(of.Weights), of.Weights)
	for j := range d {
		var mean, square, gotMean, gotSquare float64
		for k, w := range weights {
			mean += w * of.Means[k][j]
			square += w * (of.Means[k][j]*of.Means[k][j] + of.Deviations[k][j]*of.Deviations[k][j])
		}
		for i := range n {
			v := x[i*d+j]
			gotMean += v / n
			gotSquare += v * v / n
		}
		sd := math.Sqrt(square - mean*mean)
		require.InDelta(t, mean, gotMean, 4*sd/math.Sqrt(n))
		require.InDelta(t, square, gotSquare, 8*square/math.Sqrt(n))
	}
}

func TestMixtureRefuses(t *testing.T) {
	m := newMixture(t, randomMixture(3, 4))
	require.ErrorContains(t, m.SetQuantities(nil), "weights is missing")
	bad := m.Quantities()
	bad[2].Value[1] = 0
	require.ErrorContains(t, m.SetQuantities(bad), "must be positive")
	_, err := model.NewMixture(simulate.Mixture{Weights: []float64{1}})
	require.ErrorContains(t, err, "do not match")
}
