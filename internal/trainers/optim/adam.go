// Package optim has optimisers as plain values that can be copied and saved.
package optim

import (
	"math"

	"missingscore/graph"
	"missingscore/internal/simd"
)

// Adam is the optimiser of Kingma & Ba 2015. The zero value needs only a Rate.
type Adam struct {
	Rate  float64
	Steps int
	M, V  [][]float64 // first and second moments, by parameter

	m, v [][]float32 // used by StepSingle instead
}

const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// Step moves params by −Rate · m̂/(√v̂ + 1e-8), with m̂ and v̂ the bias-corrected moments of grads.
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

// Length returns Rate / (√v̂ + 1e-8) for number j of parameter i: the inverse metric of the last
// step.
func (a *Adam) Length(i, j int) float64 {
	return a.Rate / (math.Sqrt(a.V[i][j]/(1-math.Pow(adamBeta2, float64(a.Steps)))) + adamEpsilon)
}

// StepSingle is Step in float32 on Param.Single; Param.Value is unchanged.
func (a *Adam) StepSingle(params []*graph.Param, grads [][]float32) {
	if a.m == nil {
		for _, p := range params {
			a.m = append(a.m, make([]float32, len(p.Value)))
			a.v = append(a.v, make([]float32, len(p.Value)))
		}
		for i := range a.M { // of a resumed state
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
