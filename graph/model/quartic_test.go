package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
	"missingscore/graph/modeltest"
)

// The start's size by quadrature.
func TestQuarticInitialRMS(t *testing.T) {
	density := func(x float64) float64 { return math.Exp(-x * x * x * x / 2) }
	square := func(x float64) float64 { return x * x * density(x) }
	want := quad.Fixed(square, -5, 5, 200, nil, 0) / quad.Fixed(density, -5, 5, 200, nil, 0)
	size := model.NewQuartic(1).InitialRMS()
	require.InDelta(t, want, size*size, 1e-12)
}

func TestFreeCopies(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return model.NewQuartic(d).Free() })
	theta := mat.NewSymDense(3, []float64{-1, 0.3, 0, 0.3, -2, -0.4, 0, -0.4, -0.7})
	q := model.NewQuartic(3)
	require.NoError(t, q.SetTheta(theta))
	g := model.NewGaussian(3, model.CholeskyFactor)
	var p mat.SymDense
	p.ScaleSym(-1, theta)
	require.NoError(t, g.SetPrecision(&p))
	g.SetMean([]float64{1, -2, 0.5})
	x := draws(6, 1)
	for _, m := range []model.Coupled{q, g} {
		f := m.Free()
		require.InDeltaSlice(t, []float64{1, -0.3, 0, 2, 0.4, 0.7}, f.Matrix().Value, 1e-12)
		log, score := at(t, m, x...)
		freeLog, freeScore := at(t, f, x...)
		require.InDeltaSlice(t, log, freeLog, 1e-10)
		require.InDeltaSlice(t, score, freeScore, 1e-10)
		f.Matrix().Value[1] = 0.25
		require.NotEqual(t, 0.25, m.Matrix().Value[1], "nothing is shared")
	}
	free := q.Free().(*model.Quartic)
	require.Zero(t, free.Theta().At(0, 2))
	require.False(t, math.Signbit(free.Theta().At(0, 2)), "in files it is 0, not −0")
	joined, ok := model.CoupledOf(&model.Joint{Model: q})
	require.True(t, ok)
	require.Equal(t, q, joined)
}
