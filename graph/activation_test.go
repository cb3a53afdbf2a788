package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

func TestActivations(t *testing.T) {
	z := []float64{-800, -745, -40, -20, -3, -0.5, 0, 1e-9, 0.7, 4, 20, 40, 745, 800}
	sigmoid := func(z float64) float64 { return (1 + math.Tanh(z/2)) / 2 }
	usual := map[string]func(z float64) float64{
		"softplus": func(z float64) float64 {
			if z > 30 {
				return z
			}
			return math.Log1p(math.Exp(z))
		},
		"tanh": math.Tanh,
		"silu": func(z float64) float64 { return z * sigmoid(z) },
	}
	first := map[string]func(z float64) float64{
		"softplus": sigmoid,
		"tanh":     func(z float64) float64 { return 1 / (math.Cosh(z) * math.Cosh(z)) },
		"silu":     func(z float64) float64 { return sigmoid(z) * (1 + z*sigmoid(-z)) },
	}
	second := map[string]func(z float64) float64{
		"softplus": func(z float64) float64 { return sigmoid(z) * sigmoid(-z) },
		"tanh":     func(z float64) float64 { return -2 * math.Tanh(z) / (math.Cosh(z) * math.Cosh(z)) },
		"silu": func(z float64) float64 {
			return sigmoid(z) * sigmoid(-z) * (2 - z*math.Tanh(z/2))
		},
	}
	for name, activation := range graph.Activations {
		for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
			x := graph.NewParam("x", 1, len(z))
			p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
				a := b.Map(activation, b.Param(x))
				slope := graph.Gradient(b, a, b.Param(x))
				curvature := graph.Gradient(b, slope, b.Param(x))
				b.Output("value", a)
				b.Output("slope", slope)
				b.Output("curvature", curvature)
				b.Minimise(b.Sum(curvature), x)
			})
			require.NoError(t, err)
			copy(x.Value, z)
			require.NoError(t, p.Run())
			tolerance := map[graph.DType]float64{graph.Float64: 1e-14, graph.Float32: 1e-6}[dtype]
			for i, z := range z {
				near := func(want, got float64) {
					t.Helper()
					require.InDelta(t, want, got, tolerance*math.Max(1, math.Abs(z)), "%s at %v", name, z)
				}
				near(usual[name](z), p.Output("value")[i])
				near(first[name](z), p.Output("slope")[i])
				near(second[name](z), p.Output("curvature")[i])
				if math.Abs(z) >= 40 {
					near(0, p.Grad(x)[i])
				}
				require.False(t, math.IsNaN(p.Grad(x)[i]))
			}
		}
	}
	_, err := graph.NewActivation("relu")
	require.EqualError(t, err, `there is no smooth activation "relu"; smooth activations are silu, softplus, tanh`)
}
