package nets_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
	"missingscore/nets"
)

func far(m nets.Imputer, seed uint64) {
	rng := stream.New(seed, 9)
	for _, p := range m.Params() {
		for i := range p.Value {
			p.Value[i] += 0.4 * rng.NormFloat64()
		}
	}
}

// The log density is the noise's minus log |det ∂x'/∂ε| by central differences.
func TestDensityIsThatOfTheMap(t *testing.T) {
	const d, step = 4, 1e-5
	for _, kind := range []string{"normal", "linear", "mixture"} {
		for seed := range uint64(3) {
			options := map[string]string{"mixture": `{"components":1}`}[kind]
			m, err := nets.NewImputer(kind, d, []byte(options), stream.New(seed, 1))
			require.NoError(t, err)
			far(m, seed)
			for pattern := range 1<<d - 1 { // bits are observed cells
				rng := stream.New(seed, 2, uint64(pattern))
				p := drawn(t, m, 1, d)
				var gaps []int
				for j := range d {
					p.Input("noise")[j] = rng.NormFloat64()
					if pattern>>j&1 == 1 {
						p.Input("x")[j], p.Input("mask")[j] = rng.NormFloat64(), 1
					} else {
						gaps = append(gaps, j)
					}
				}
				require.NoError(t, p.Run())
				want, log := 0.0, p.Output("density")[0]
				at := func(j int, by float64) []float64 {
					p.Input("noise")[j] += by
					require.NoError(t, p.Run())
					p.Input("noise")[j] -= by
					return append([]float64(nil), p.Output("draw")...)
				}
				jacobian := mat.NewDense(len(gaps), len(gaps), nil)
				for a, j := range gaps {
					want -= p.Input("noise")[j] * p.Input("noise")[j] / 2
					up, down := at(j, step), at(j, -step)
					for e, l := range gaps {
						jacobian.Set(e, a, (up[l]-down[l])/(2*step))
					}
				}
				stretch, _ := mat.LogDet(jacobian)
				require.InDelta(t, want-stretch, log, 1e-5*(1+math.Abs(log)), fmt.Sprint(kind, seed, gaps))
			}
		}
	}
}

func TestDrawsDependOnNothingUnseen(t *testing.T) {
	m, err := nets.NewImputer("linear", 3, nil, stream.New(1, 1))
	require.NoError(t, err)
	far(m, 1)
	p := drawn(t, m, 1, 3)
	copy(p.Input("x"), []float64{0, 1.2, 0})
	copy(p.Input("mask"), []float64{0, 1, 0})
	copy(p.Input("noise"), []float64{0.3, 0, -1})
	require.NoError(t, p.Run())
	x, log := append([]float64(nil), p.Output("draw")...), p.Output("density")[0]
	p.Input("noise")[1] = 5
	require.NoError(t, p.Run())
	require.Equal(t, []float64{x[0], x[2], log}, []float64{p.Output("draw")[0], p.Output("draw")[2], p.Output("density")[0]})
	p.Input("noise")[2] = 1
	require.NoError(t, p.Run())
	require.NotEqual(t, x[0], p.Output("draw")[0], "cells follow each other's noise")
	p.Input("x")[1] = -1
	before := p.Output("draw")[0]
	require.NoError(t, p.Run())
	require.NotEqual(t, before, p.Output("draw")[0], "draws follow what is observed")
}

// Started at a normal, log q'(x') − log q(x) = ½ log det P_mm + ½ (x_o−μ_o)ᵀ Σ_oo⁻¹ (x_o−μ_o).
func TestLinearStartsAtTheConditional(t *testing.T) {
	const d, n = 3, 40
	precision := mat.NewSymDense(d, []float64{2, -0.8, 0.3, -0.8, 1.5, 0.4, 0.3, 0.4, 1})
	mean := []float64{1, -0.5, 2}
	m := nets.NewLinearImputer(d, nets.LinearOptions{Hidden: 5}, stream.New(3, 1))
	require.NoError(t, m.(nets.NormalStart).StartAt(mean, precision))
	p := drawn(t, m, n, d)
	rng := stream.New(3, 2)
	for i := range n * d {
		p.Input("noise")[i] = rng.NormFloat64()
		if rng.Float64() < 0.5 {
			p.Input("x")[i], p.Input("mask")[i] = rng.NormFloat64(), 1
		}
	}
	require.NoError(t, p.Run())
	var c mat.Cholesky
	require.True(t, c.Factorize(precision))
	var sigma mat.SymDense
	require.NoError(t, c.InverseTo(&sigma))
	for i := range n {
		x, seen, gaps := mat.NewVecDense(d, nil), []int{}, []int{}
		for j := range d {
			if p.Input("mask")[i*d+j] == 1 {
				seen = append(seen, j)
				x.SetVec(j, p.Input("x")[i*d+j]-mean[j])
			} else {
				gaps = append(gaps, j)
				x.SetVec(j, p.Output("draw")[i*d+j]-mean[j])
			}
		}
		want := -mat.Inner(x, precision, x) / 2
		if len(seen) > 0 {
			s, o := mat.NewSymDense(len(seen), nil), mat.NewVecDense(len(seen), nil)
			for a, j := range seen {
				o.SetVec(a, x.AtVec(j))
				for e, l := range seen {
					s.SetSym(a, e, sigma.At(j, l))
				}
			}
			var inverse mat.Dense
			require.NoError(t, inverse.Inverse(s))
			want += mat.Inner(o, &inverse, o) / 2
		}
		if len(gaps) > 0 {
			s := mat.NewSymDense(len(gaps), nil)
			for a, j := range gaps {
				for e, l := range gaps {
					s.SetSym(a, e, precision.At(j, l))
				}
			}
			log, _ := mat.LogDet(s)
			want += log / 2
		}
		require.InDelta(t, want, p.Output("density")[i], 1e-9)
	}
	require.ErrorContains(t, m.(nets.NormalStart).StartAt(mean, mat.NewSymDense(d, nil)), "not positive definite")
}
