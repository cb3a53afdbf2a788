package trainers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/path"
)

// With --select fdr the edges are the pairs of small q values, their sizes are the estimates
// made for inference, and both are the same whether the bootstrap comes after or not.
func TestEdgesByTheirTests(t *testing.T) {
	const rate = 0.1
	_, table := testtables.Star(t, 8, 300, 0.3)
	byTests := func(c inference.Config) *trainers.NetworkResult {
		s := trainers.Spec{Network: &path.Config{Select: path.Selection{Kind: "fdr", Rate: rate}, Lambdas: 12}, Inference: c}
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		return r.Network
	}
	n := byTests(inference.Config{})
	edges := map[[2]string]float64{}
	for _, e := range n.Edges() {
		edges[[2]string{e.From, e.To}] = e.PartialCorrelation
	}
	require.NotEmpty(t, edges)
	require.Less(t, len(edges), len(n.Network.Pairs))
	for _, pair := range n.Network.Pairs {
		size, edge := edges[[2]string{pair.From, pair.To}]
		require.Equal(t, edge, pair.Uncertainty.Q <= rate, "%s – %s has q = %g", pair.From, pair.To, pair.Uncertainty.Q)
		if edge {
			require.Equal(t, pair.Uncertainty.Estimate, size)
			require.NotEqual(t, pair.PartialCorrelation, size, "the fit's own is another number")
		}
	}
	resampled := byTests(inference.Config{Kind: "bootstrap", Resamples: 10})
	require.Len(t, resampled.Edges(), len(edges))
	for _, e := range resampled.Edges() {
		require.Equal(t, edges[[2]string{e.From, e.To}], e.PartialCorrelation)
		require.False(t, math.IsNaN(e.Uncertainty.Inclusion))
	}
}
