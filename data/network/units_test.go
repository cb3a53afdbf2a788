package network_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/network"
)

// Partial correlations have no units: in those of columns with an outlier of 1e149 the product
// of two diagonal elements is beyond float64, and so it is in very small ones.
func TestPartialCorrelationsHaveNoUnits(t *testing.T) {
	for _, unit := range [][2]float64{{1, 1}, {1e148, 1e148}, {1e-150, 1e-150}, {1e150, 1e-150}, {1e85, 3}} {
		p := mat.NewSymDense(2, []float64{4 / unit[0] / unit[0], -1 / unit[0] / unit[1], -1 / unit[0] / unit[1], 1 / unit[1] / unit[1]})
		n, err := network.New([]string{"a", "b"}, p, network.Adjacency{D: 2, Edge: []bool{true}})
		require.NoError(t, err)
		require.InEpsilon(t, 0.5, n.Edges[0].PartialCorrelation, 1e-14)
	}
}
