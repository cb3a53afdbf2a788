package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

// Pairs go from the most positive to the most negative; those that the network and most
// resamples are without, and those without an estimate, are not shown.
func TestForest(t *testing.T) {
	pair := func(from string, estimate, inclusion float64) network.Edge {
		u := network.Unknown(9)
		u.Estimate, u.Inclusion = estimate, inclusion
		return network.Edge{From: from, To: "z", Uncertainty: &u}
	}
	nan := math.NaN()
	n := &network.Network{Pairs: []network.Edge{
		pair("a", -0.5, 1), pair("b", 0, 0.1), pair("c", 0.25, nan), pair("d", 0, 0.5), pair("e", nan, nan), pair("f", 0, nan), pair("g", 0.75, 1),
	}}
	var shown []string
	for _, e := range forest(n) {
		shown = append(shown, e.From)
	}
	require.Equal(t, []string{"g", "c", "d", "a"}, shown)
}
