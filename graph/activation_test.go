package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

// Derivatives where they do not overflow are in TestOperations.
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
				if slope := p.Output("slope")[i]; math.Abs(z) < 40 {
					require.False(t, math.IsNaN(slope+p.Grad(x)[i]))
					continue
				} else if z > 0 && name != "tanh" {
					near(1, slope)
				} else {
					near(0, slope)
				}
				near(0, p.Output("curvature")[i])
				near(0, p.Grad(x)[i])
			}
		}
	}
	_, err := graph.NewActivation("relu")
	require.EqualError(t, err, `there is no smooth activation "relu"; smooth activations are silu, softplus, tanh`)
}
