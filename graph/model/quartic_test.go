package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
)

func TestQuarticByHand(t *testing.T) {
	q := model.NewQuartic(2)
	require.True(t, mat.EqualApprox(mat.NewSymDense(2, []float64{-0.5, 0, 0, -0.5}), q.Theta(), 1e-15), "start")
	theta := mat.NewSymDense(2, []float64{-1, 0.3, 0.3, -2})
	require.NoError(t, q.SetTheta(theta))
	require.True(t, mat.EqualApprox(theta, q.Theta(), 1e-14))
	p, err := graph.Build(func(b *graph.Builder) {
		x := b.Input("x", 1, 2)
		terms := q.Evaluate(b, x)
		b.Output("log density", terms.LogDensity)
		b.Output("score", terms.Score)
		b.Output("diagonal", terms.Diagonal)
	})
	require.NoError(t, err)
	copy(p.Input("x"), []float64{2, -1})
	require.NoError(t, p.Run())
	// −x⁴ + 0.6 x²y² − 2y⁴ at (2, −1)
	require.InDelta(t, -16+0.6*4-2, p.Output("log density")[0], 1e-12)
	require.InDeltaSlice(t, []float64{-4*8 + 1.2*2, 1.2*4*-1 + 8}, p.Output("score"), 1e-12)
	require.InDeltaSlice(t, []float64{-12*4 + 1.2, 1.2*4 - 24}, p.Output("diagonal"), 1e-12)

	require.ErrorContains(t, q.SetTheta(mat.NewSymDense(2, []float64{-1, 2, 2, -1})), "not positive definite")
	require.ErrorContains(t, q.SetTheta(mat.NewSymDense(3, nil)), "does not fit")
	for _, v := range []float64{-30, 0, 30} { // integrable whatever the parameters
		for i := range q.Packed.Value {
			q.Packed.Value[i] = v * math.Sin(float64(i+1))
		}
		var e mat.EigenSym
		require.True(t, e.Factorize(q.Theta(), false))
		require.LessOrEqual(t, e.Values(nil)[1], 1e-9*math.Abs(e.Values(nil)[0]))
	}
}

// The start's size by quadrature.
func TestQuarticInitialRMS(t *testing.T) {
	density := func(x float64) float64 { return math.Exp(-x * x * x * x / 2) }
	square := func(x float64) float64 { return x * x * density(x) }
	want := quad.Fixed(square, -5, 5, 200, nil, 0) / quad.Fixed(density, -5, 5, 200, nil, 0)
	size := model.NewQuartic(1).InitialRMS()
	require.InDelta(t, want, size*size, 1e-12)
}

func TestFreeCopies(t *testing.T) {
	theta := mat.NewSymDense(3, []float64{-1, 0.3, 0, 0.3, -2, -0.4, 0, -0.4, -0.7})
	q := model.NewQuartic(3)
	require.NoError(t, q.SetTheta(theta))
	g := model.NewGaussian(3, model.CholeskyFactor)
	var p mat.SymDense
	p.ScaleSym(-1, theta)
	require.NoError(t, g.SetPrecision(&p))
	g.SetMean([]float64{1, -2, 0.5})
	x := []float64{0.3, -1, 2, 0.5, 0.7, -0.2}
	for _, m := range []model.Coupled{q, g} {
		f := m.Free()
		require.InDeltaSlice(t, []float64{1, -0.3, 0, 2, 0.4, 0.7}, f.Matrix().Value, 1e-12)
		for i, a := range m.Quantities() {
			require.InDeltaSlice(t, a.Value, f.Quantities()[i].Value, 1e-12)
		}
		of := func(m model.Model) *graph.Program {
			p, err := graph.Build(func(b *graph.Builder) {
				e := m.Evaluate(b, b.Input("x", 2, 3))
				loss := b.Add(e.LogDensity, b.RowSum(b.Add(b.Map(graph.Square, e.Score), e.Diagonal)))
				b.Minimise(b.Sum(loss), m.Params()...)
				b.Output("all", loss)
			})
			require.NoError(t, err)
			copy(p.Input("x"), x)
			require.NoError(t, p.Run())
			return p
		}
		program := of(f)
		require.InDeltaSlice(t, of(m).Output("all"), program.Output("all"), 1e-10)
		d, err := gradcheck.Params(program, f.Params(), gradcheck.Step, func() (float64, error) {
			err := program.Run()
			return program.Loss(), err
		})
		require.NoError(t, err)
		require.Less(t, d.Error, 1e-7, d.Where)
		f.Matrix().Value[1] = 0.25
		require.NotEqual(t, 0.25, m.Matrix().Value[1], "nothing is shared")
		require.NoError(t, f.SetQuantities(m.Quantities()))
		require.InDelta(t, -0.3, f.Matrix().Value[1], 1e-12)
		require.NoError(t, f.Rescale([]float64{0, 0, 0}, []float64{2, 1, 1}))
	}
	free := q.Free().(*model.Quartic)
	require.Zero(t, free.Theta().At(0, 2))
	require.False(t, math.Signbit(free.Theta().At(0, 2)), "in files it is 0, not −0")
	joined, ok := model.CoupledOf(&model.Joint{Model: q})
	require.True(t, ok)
	require.Equal(t, q, joined)
}
