package graph_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

// Sizes below and above the library's threshold, with a stride.
func TestFactors(t *testing.T) {
	for _, n := range []int{1, 2, 7, 47, 48, 49, 80} {
		stride := n + 3
		rng := stream.New(1, uint64(n))
		root := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				root.Set(i, j, rng.NormFloat64())
			}
			root.Set(i, i, root.At(i, i)+float64(n))
		}
		one := mat.NewSymDense(n, nil)
		var want mat.SymDense
		want.SymOuterK(1, root)
		a := make([]float64, n*stride)
		fill := func() []float64 {
			for i := range n {
				for j := range stride {
					if a[i*stride+j] = -7; j < n {
						a[i*stride+j] = want.At(i, j)
					}
				}
			}
			return a
		}
		require.True(t, graph.Factor(fill(), n, stride))
		lower := mat.NewDense(n, n, nil)
		for i := range n {
			copy(lower.RawRowView(i), a[i*stride:i*stride+i+1])
		}
		var product mat.Dense
		product.Mul(lower, lower.T())
		require.True(t, mat.EqualApprox(&want, &product, 1e-9*float64(n*n)), n)

		require.True(t, graph.InvertFactor(a, n, stride))
		inverse := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				inverse.SetSym(i, j, a[i*stride+j])
			}
			require.Equal(t, []float64{-7, -7, -7}, a[i*stride+n:i*stride+stride], "between rows")
			one.SetSym(i, i, 1)
		}
		product.Mul(&want, inverse)
		require.True(t, mat.EqualApprox(one, &product, 1e-9), n)
		for _, bad := range []float64{-1, 0, math.NaN()} {
			for _, i := range []int{0, n / 2, n - 1} {
				fill()
				a[i*stride+i] = bad
				require.False(t, graph.Factor(a, n, stride), fmt.Sprint(n, i, bad))
			}
		}
	}
}

// Weights below e⁻⁶⁰ of the largest (float64: e⁻⁶⁰⁰) are 0; larger ones are exact.
func TestSmallWeightsAreZero(t *testing.T) {
	for _, c := range []struct {
		dtype graph.DType
		least float64
	}{{graph.Float64, -600}, {graph.Float32, -60}} {
		t.Run(c.dtype.String(), func(t *testing.T) {
			softmax := func(x ...float64) []float64 {
				p, err := graph.BuildAs(c.dtype, func(b *graph.Builder) { b.Output("w", graph.GroupSoftmax(b, b.Input("x", len(x), 1), len(x))) })
				require.NoError(t, err)
				copy(p.Input("x"), x)
				require.NoError(t, p.Run())
				return p.Output("w")
			}
			w := softmax(0, c.least-0.5, math.Log(3), c.least+5)
			require.InDelta(t, 0.25, w[0], 1e-7)
			require.Zero(t, w[1])
			require.InDelta(t, 0.75, w[2], 1e-7)
			require.InEpsilon(t, math.Exp(c.least+5)/4, w[3], 1e-4)
			require.True(t, math.IsNaN(softmax(0, math.NaN())[1]))
		})
	}
}

func TestTruncatedNormalOperations(t *testing.T) {
	const n = 5
	z, a, b := graph.NewParam("z", 1, n), graph.NewParam("a", 1, n), graph.NewParam("b", 1, n)
	copy(z.Value, []float64{0.3, -1, 2, 0.5, 0.1})
	copy(a.Value, []float64{-1, 0.5, -3, 9, -0.2})
	copy(b.Value, []float64{2, 1.5, -1, 12, 0.4})
	p, err := graph.Build(func(g *graph.Builder) {
		tr := graph.Transport(g, g.Param(z), g.Param(a), g.Param(b))
		mass := graph.LogMass(g, g.Param(a), g.Param(b))
		g.Output("t", tr)
		g.Output("mass", mass)
		g.Minimise(g.Add(g.Sum(g.Map(graph.Square, tr)), g.Sum(g.Prod(mass, mass))), z, a, b)
	})
	require.NoError(t, err)
	testtables.Gradient(t, p, []*graph.Param{z, a, b}, 1e-6, nil)
	require.NoError(t, p.Run())
	for i := range n {
		require.Equal(t, truncnorm.Transport(z.Value[i], a.Value[i], b.Value[i]), p.Output("t")[i])
		require.Equal(t, truncnorm.LogMass(a.Value[i], b.Value[i]), p.Output("mass")[i])
	}
}
