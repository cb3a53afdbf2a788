package network

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestThreshold(t *testing.T) {
	p := mat.NewSymDense(4, []float64{
		9, 0.5, 0, -0.2,
		0.5, 9, 0.1, 0.3,
		0, 0.1, 9, -0.7,
		-0.2, 0.3, -0.7, 9,
	})
	a := Threshold(p, 0.2)
	require.Equal(t, Adjacency{D: 4, Edge: []bool{true, false, false, false, true, true}}, a)
	require.Equal(t, 3, a.Count())
	require.Equal(t, 0.5, a.Density())
	for j := range 4 {
		for k := range 4 {
			require.Equal(t, j != k && math.Abs(p.At(j, k)) > 0.2, a.Has(j, k), "%d %d", j, k)
		}
	}
}

func TestSingleNodeHasNoPairs(t *testing.T) {
	a := Threshold(mat.NewSymDense(1, []float64{1}), 0)
	require.Zero(t, a.Count())
	require.Zero(t, a.Density())
	require.False(t, a.Has(0, 0))
}
