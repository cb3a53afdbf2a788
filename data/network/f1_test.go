package network_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

// By hand.
func TestF1(t *testing.T) {
	of := func(edges ...bool) network.Adjacency { return network.Adjacency{D: 3, Edge: edges} }
	require.InDelta(t, 0.5, network.F1(of(true, true, false), of(true, false, true)), 1e-12)   // one hit, one false, one not found
	require.InDelta(t, 2./3, network.F1(of(true, true, false), of(true, false, false)), 1e-12) // one hit, one not found
	require.Zero(t, network.F1(of(false, false, false), of(false, false, false)))
}
