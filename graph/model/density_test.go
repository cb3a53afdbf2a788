package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

func randomMixture(t testing.TB, d, k int) model.Parametric {
	t.Helper()
	rng := stream.New(11, uint64(d), uint64(k))
	var of simulate.Mixture
	for range k {
		mean, sd := make([]float64, d), make([]float64, d)
		for j := range d {
			mean[j], sd[j] = 1.5*rng.NormFloat64(), 0.4+rng.Float64()
		}
		of.Weights = append(of.Weights, 0.2+rng.Float64())
		of.Means, of.Deviations = append(of.Means, mean), append(of.Deviations, sd)
	}
	m := model.NewMixture(of)
	return m
}

func TestModels(t *testing.T) {
	for name := range model.Models {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, func(d int) model.Model {
				m, err := model.New(name, d, nil, stream.New(1))
				require.NoError(t, err)
				return m
			})
		})
	}
	modeltest.Run(t, func(d int) model.Model { return randomMixture(t, d, 3) })
	modeltest.Run(t, func(d int) model.Model { return randomMixture(t, d, 1) })
	mean, sd := []float64{1, -2, 3, 0, 0.5}, []float64{2, 0.5, 1.5, 1, 3}
	modeltest.Run(t, func(d int) model.Model {
		return model.Rescaled{Model: randomMixture(t, d, 2), Mean: mean[:d], Deviation: sd[:d]}
	})
}

// at is log q, up to a constant, and the score.
func at(t testing.TB, m model.Model, x ...float64) (log, score []float64) {
	t.Helper()
	e, err := model.NewEvaluator(m, len(x)/m.Dim(), false)
	require.NoError(t, err)
	log, score, err = e.At(x)
	require.NoError(t, err)
	return log, score
}

// Log densities by gonum's distributions and by hand; modeltest derives the other parts from them.
func TestDensities(t *testing.T) {
	const d = 3
	precision := mat.NewSymDense(d, []float64{2, 0.7, -0.3, 0.7, 1.5, 0.4, -0.3, 0.4, 1})
	mu := []float64{0.3, -1, 2}
	normal, ok := distmv.NewNormalPrecision(mu, precision, nil)
	require.True(t, ok)
	mixture := randomMixture(t, d, 4)
	quantities := mixture.Quantities()
	weights, means, sds := quantities[0].Value, quantities[1].Value, quantities[2].Value
	quartic := model.NewQuartic(d)
	theta := mat.NewSymDense(d, []float64{-1, 0.3, 0.2, 0.3, -2, -0.4, 0.2, -0.4, -0.7})
	require.NoError(t, quartic.SetTheta(theta))
	require.True(t, mat.EqualApprox(theta, quartic.Theta(), 1e-14))

	type truth = func(x []float64) float64
	models, truths := map[string]model.Model{"mixture": mixture, "quartic": quartic}, map[string]truth{
		"mixture": func(x []float64) float64 {
			logs := make([]float64, len(weights))
			for k, w := range weights {
				variances := make([]float64, d)
				floats.MulTo(variances, sds[k*d:k*d+d], sds[k*d:k*d+d])
				component, ok := distmv.NewNormal(means[k*d:k*d+d], mat.NewDiagDense(d, variances), nil)
				require.True(t, ok)
				logs[k] = math.Log(w) + component.LogProb(x)
			}
			return floats.LogSumExp(logs)
		},
		"quartic": func(x []float64) float64 {
			square := mat.NewVecDense(d, floats.MulTo(make([]float64, d), x, x))
			return mat.Inner(square, theta, square)
		},
	}
	for name, kind := range map[string]model.Parameterisation{
		"cholesky": model.CholeskyFactor, "symmetric": model.FreeSymmetric, "natural": model.Natural,
	} {
		g := model.NewGaussian(d, kind)
		require.NoError(t, g.SetPrecision(precision))
		g.SetMean(mu)
		require.True(t, mat.EqualApprox(precision, g.Precision(), 1e-13))
		models[name], truths[name] = g, normal.LogProb
	}
	x := draws(8*d, 2)
	for name, m := range models {
		log, _ := at(t, m, x...)
		for i, got := range log {
			// log q drops the constant: compare differences from row 0.
			require.InDelta(t, truths[name](x[i*d:i*d+d])-truths[name](x[:d]), got-log[0], 1e-10, name)
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
	m := model.NewMixture(simulate.Moons())
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
			e := m.Evaluate(b, b.Constant(1, 2, []float64{1e3, 0.2}))
			b.Output("score", e.Score)
			b.Output("diagonal", e.Diagonal)
		})
		require.NoError(t, err)
		require.NoError(t, p.Run())
		require.InDelta(t, -1e5, p.Output("score")[0], 300)
		require.InDelta(t, -100, p.Output("diagonal")[0], 20)
	}
}

// Also where P is not positive definite.
func TestMeanOfManyColumns(t *testing.T) {
	const d = 120
	g := model.NewGaussian(d, model.Natural)
	for _, corner := range []float64{3, -2} {
		for j := range d {
			g.Packed.Value[graph.PackedIndex(d, j, j)] = 3
			if j > 0 {
				g.Packed.Value[graph.PackedIndex(d, j-1, j)] = 1
			}
			g.Location.Value[j] = float64(j%5) - 1.5
		}
		g.Packed.Value[0] = corner
		var eta mat.VecDense
		eta.MulVec(g.Precision(), mat.NewVecDense(d, g.Mean()))
		require.InDeltaSlice(t, g.Location.Value, eta.RawVector().Data, 1e-12)
	}
	clear(g.Packed.Value)
	require.True(t, math.IsNaN(g.Mean()[7]))
}

// Coefficients of the quartic have the units 1/(x² y²).
func TestUnitsFarApart(t *testing.T) {
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
	q := model.NewQuartic(2)
	theta := mat.NewSymDense(2, []float64{-1, 0.2, 0.2, -1})
	require.NoError(t, q.SetTheta(theta))
	require.NoError(t, q.Rescale([]float64{0, 0}, []float64{1e70, 1e-70}))
	require.InEpsilon(t, -1e-280, q.Theta().At(0, 0), 1e-9)
	require.InEpsilon(t, 0.2, q.Theta().At(0, 1), 1e-9)
	for _, unit := range []float64{1e-120, 1e120} {
		require.NoError(t, q.SetTheta(theta))
		require.ErrorContains(t, q.Rescale([]float64{0, 0}, []float64{unit, unit}), "overflows float64")
	}
}
