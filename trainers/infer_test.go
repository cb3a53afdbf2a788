package trainers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/path"
)

// Errors by the model are warned of where rows have heavier tails than normal ones, errors by the
// rows are not.
func TestTailsAreWarnedOf(t *testing.T) {
	const n = 300
	for _, heavy := range []bool{false, true} {
		_, table := testtables.Star(t, 6, n, 0.2)
		for i := range n {
			if heavy && i%2 == 0 {
				for j := range table.D {
					table.Values[i*table.D+j] *= 3
				}
			}
		}
		for _, kind := range []string{"model", "robust"} {
			s := trainers.Spec{Network: &path.Config{Lambdas: 12}, Inference: inference.Config{Kind: kind}}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			warned := strings.Contains(strings.Join(r.Network.Inference.Warnings, "; "), "heavier tails")
			require.Equal(t, heavy && kind == "model", warned, "%v %s", heavy, kind)
		}
	}
}

// Few rows are warned of: ten for a column by the model, fifteen by the rows, counted by pairs of
// columns that both have a value.
func TestFewRowsAreWarnedOf(t *testing.T) {
	const d = 6
	for _, c := range []struct {
		rows          int
		missing       float64
		model, robust bool
	}{{9 * d, 0, true, true}, {12 * d, 0, false, true}, {16 * d, 0, false, false}, {20 * d, 0.3, true, true}, {40 * d, 0.3, false, false}} {
		_, table := testtables.Star(t, d, c.rows, c.missing)
		for kind, want := range map[string]bool{"model": c.model, "robust": c.robust} {
			s := trainers.Spec{Network: &path.Config{Lambdas: 6}, Inference: inference.Config{Kind: kind}}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			told := strings.Join(r.Network.Inference.Warnings, "; ")
			require.Equal(t, want, strings.Contains(told, "intervals and p values are for tables with more rows"), "%d rows, %s: %s", c.rows, kind, told)
			if want && kind == "robust" {
				require.Contains(t, told, "15 times the 6 columns are needed for intervals that cover as often as they say (10 by --inference model, if rows are normal)")
			}
		}
	}
}

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
