// Package optim has the optimisers as plain values: copy them, save them, go on.
package optim

import (
	"math"

	"missingscore/graph"
	"missingscore/internal/simd"
)

// Adam is the optimiser of Kingma & Ba 2015 as a value: copy it, save it, go on.
// The zero value needs only a Rate.
type Adam struct {
	Rate  float64
	Steps int
	M, V  [][]float64 // first and second moments, one slice a parameter

	m, v [][]float32 // instead, of StepSingle
}

const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// Step moves params against their gradients by
// Rate · m̂/(√v̂ + 1e-8), m̂ and v̂ the bias-corrected moments.
func (a *Adam) Step(params []*graph.Param, grads [][]float64) {
	if a.M == nil {
		for _, p := range params {
			a.M = append(a.M, make([]float64, len(p.Value)))
			a.V = append(a.V, make([]float64, len(p.Value)))
		}
	}
	c := a.next()
	for i, p := range params {
		simd.Adam(p.Value, a.M[i], a.V[i], grads[i], &c)
	}
}

// Length is how far Step moves number j of parameter i for each unit of its averaged gradient
// m̂: Rate / (√v̂ + 1e-8), the inverse of the metric that the last step was in.
func (a *Adam) Length(i, j int) float64 {
	return a.Rate / (math.Sqrt(a.V[i][j]/(1-math.Pow(adamBeta2, float64(a.Steps)))) + adamEpsilon)
}

// StepSingle is Step in float32, on Param.Single. Param.Value does not follow by itself.
func (a *Adam) StepSingle(params []*graph.Param, grads [][]float32) {
	if a.m == nil {
		for _, p := range params {
			a.m = append(a.m, make([]float32, len(p.Value)))
			a.v = append(a.v, make([]float32, len(p.Value)))
		}
		for i := range a.M { // of a state taken up again
			simd.Narrow(a.m[i], a.M[i])
			simd.Narrow(a.v[i], a.V[i])
		}
	}
	c := a.next()
	for i, p := range params {
		simd.Adam(p.Single, a.m[i], a.v[i], grads[i], &c)
	}
}

func (a *Adam) next() simd.AdamConstants {
	a.Steps++
	c2 := math.Sqrt(1 - math.Pow(adamBeta2, float64(a.Steps)))
	rate := a.Rate * c2 / (1 - math.Pow(adamBeta1, float64(a.Steps)))
	return simd.AdamConstants{adamBeta1, 1 - adamBeta1, adamBeta2, 1 - adamBeta2, rate, adamEpsilon * c2}
}

// Clone is a copy that shares nothing, with all moments in float64.
func (a Adam) Clone() Adam {
	if a.m != nil {
		a.M, a.V, a.m, a.v = wide(a.m), wide(a.v), nil, nil
		return a
	}
	a.M, a.V = cloneAll(a.M), cloneAll(a.V)
	return a
}

func wide(xs [][]float32) (out [][]float64) {
	for _, x := range xs {
		out = append(out, make([]float64, len(x)))
		simd.Widen(out[len(out)-1], x)
	}
	return out
}

func cloneAll(xs [][]float64) [][]float64 {
	var out [][]float64
	for _, x := range xs {
		out = append(out, append([]float64(nil), x...))
	}
	return out
}
