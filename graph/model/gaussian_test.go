package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/stream"
)

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
	_, err := model.New("gausian", 2, nil, stream.New(1))
	require.EqualError(t, err, `there is no model "gausian" (did you mean gaussian?); models are gaussian, gaussian-natural, gaussian-network, mixture, quartic`)
}

func randomPrecision(d int, seed uint64) *mat.SymDense {
	rng := stream.New(seed, 0)
	a := mat.NewDense(d, d, nil)
	for j := range d {
		for k := range d {
			a.Set(j, k, rng.NormFloat64())
		}
	}
	p := mat.NewSymDense(d, nil)
	p.SymOuterK(1/float64(d), a)
	for j := range d {
		p.SetSym(j, j, p.At(j, j)+0.5)
	}
	return p
}

// distmv is the outside truth: it works with the covariance, we with the precision.
func TestGaussianAgainstDistmv(t *testing.T) {
	const d, n = 4, 6
	p := randomPrecision(d, 3)
	mu := []float64{0.3, -1, 2, 0.1}
	normal, ok := distmv.NewNormalPrecision(mu, p, nil)
	require.True(t, ok)
	for name, kind := range map[string]model.Parameterisation{"cholesky": model.CholeskyFactor, "symmetric": model.FreeSymmetric, "natural": model.Natural} {
		t.Run(name, func(t *testing.T) {
			m := model.NewGaussian(d, kind)
			require.NoError(t, m.SetPrecision(p))
			m.SetMean(mu)
			require.True(t, mat.EqualApprox(p, m.Precision(), 1e-13))
			prog, err := graph.Build(func(b *graph.Builder) {
				terms := m.Evaluate(b, b.Input("x", n, d))
				b.Output("log", terms.LogDensity)
				b.Output("score", terms.Score)
				b.Output("diagonal", terms.Diagonal)
			})
			require.NoError(t, err)
			rng := stream.New(5, 0)
			x := prog.Input("x")
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			require.NoError(t, prog.Run())
			for i := range n {
				row := x[i*d : i*d+d]
				want := normal.ScoreInput(nil, row)
				require.InDeltaSlice(t, want, prog.Output("score")[i*d:i*d+d], 1e-10)
				// log q drops the constant: compare differences from row 0.
				require.InDelta(t, normal.LogProb(row)-normal.LogProb(x[:d]), prog.Output("log")[i]-prog.Output("log")[0], 1e-10)
				for j := range d {
					require.InDelta(t, -p.At(j, j), prog.Output("diagonal")[i*d+j], 1e-12)
				}
			}
		})
	}
}

func TestSetPrecisionRefuses(t *testing.T) {
	m := model.NewGaussian(2, model.CholeskyFactor)
	require.ErrorContains(t, m.SetPrecision(mat.NewSymDense(2, []float64{1, 2, 2, 1})), "not positive definite")
	require.ErrorContains(t, m.SetPrecision(mat.NewSymDense(3, nil)), "does not fit")
	require.NoError(t, model.NewGaussian(2, model.FreeSymmetric).SetPrecision(mat.NewSymDense(2, []float64{1, 2, 2, 1})))
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
		mu, p := g.Mean(), g.Precision()
		for j := range d {
			sum := 0.0
			for k, v := range mu {
				sum += p.At(j, k) * v
			}
			require.InDelta(t, g.Location.Value[j], sum, 1e-12)
		}
	}
	clear(g.Packed.Value)
	require.True(t, math.IsNaN(g.Mean()[7]))
}

func TestMeanInUnitsFarApart(t *testing.T) {
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
}

// Coefficients of the quartic have the units 1/(x² y²).
func TestQuarticInUnitsFarApart(t *testing.T) {
	quartic := func() *model.Quartic {
		q := model.NewQuartic(2)
		require.NoError(t, q.SetTheta(mat.NewSymDense(2, []float64{-1, 0.2, 0.2, -1})))
		return q
	}
	q := quartic()
	require.NoError(t, q.Rescale([]float64{0, 0}, []float64{1e70, 1e-70}))
	require.InEpsilon(t, -1e-280, q.Theta().At(0, 0), 1e-9)
	require.InEpsilon(t, 0.2, q.Theta().At(0, 1), 1e-9)
	for _, unit := range []float64{1e-120, 1e120} {
		require.ErrorContains(t, quartic().Rescale([]float64{0, 0}, []float64{unit, unit}), "overflows float64")
	}
}
