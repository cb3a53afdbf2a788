package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

// Weights of less than e⁻⁶⁰ of the largest, in float64 e⁻⁶⁰⁰, are 0 and take nothing from the
// others; above that they are what they are, and what is no number stays none.
func TestSmallWeightsAreZero(t *testing.T) {
	for _, c := range []struct {
		dtype graph.DType
		least float64
	}{{graph.Float64, -600}, {graph.Float32, -60}} {
		t.Run(c.dtype.String(), func(t *testing.T) {
			softmax := func(x ...float64) []float64 {
				p, err := graph.BuildAs(c.dtype, func(b *graph.Builder) { b.Output("w", b.GroupSoftmax(b.Input("x", len(x), 1), len(x))) })
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
