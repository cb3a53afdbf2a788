package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
)

// The formulas written out for one point, by hand.
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
