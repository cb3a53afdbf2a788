package network_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/network"
)

// By hand: −(−2)/√(4·9), 0 without a sign, −3/√(9·16).
func TestPartialCorrelations(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, -2, 0, -2, 9, 3, 0, 3, 16})
	rho := network.PartialCorrelations(p)
	require.InDeltaSlice(t, []float64{1. / 3, 0, -0.25}, rho, 1e-15)
	require.False(t, math.Signbit(rho[1]))
	require.Equal(t, rho[2], network.PartialCorrelation(p, 1, 2))
	p.SetSym(0, 0, 1e300)
	p.SetSym(1, 1, 1e300)
	p.SetSym(0, 1, 5e299)
	require.InDelta(t, -0.5, network.PartialCorrelation(p, 0, 1), 1e-15) // the product is beyond float64
}
