package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
)

// Values, and far out slopes and curvatures; TestOperations has derivatives elsewhere.
func TestActivations(t *testing.T) {
	z := []float64{-800, -745, -40, -20, -3, -0.5, 0, 1e-9, 0.7, 4, 20, 40, 745, 800}
	usual := map[string]func(z float64) float64{
		"softplus": func(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) },
		"tanh":     math.Tanh,
		"silu":     func(z float64) float64 { return z * (1 + math.Tanh(z/2)) / 2 },
	}
	for name, activation := range graph.Activations {
		for dtype, tolerance := range map[graph.DType]float64{graph.Float64: 1e-14, graph.Float32: 1e-6} {
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
			for i, z := range z {
				derivatives := []float64{p.Output("slope")[i], p.Output("curvature")[i], p.Grad(x)[i]}
				require.InDelta(t, usual[name](z), p.Output("value")[i], tolerance*max(1, math.Abs(z)), "%s at %v", name, z)
				if math.Abs(z) < 40 {
					require.False(t, math.IsNaN(floats.Sum(derivatives)))
					continue
				}
				slope := 0.0
				if z > 0 && name != "tanh" {
					slope = 1
				}
				require.InDeltaSlice(t, []float64{slope, 0, 0}, derivatives, tolerance*math.Abs(z), "%s at %v", name, z)
			}
		}
	}
}
