package trainers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// wide is a chain of so many columns that points of a path keep no zeros.
func wide(t *testing.T) *data.Table {
	t.Helper()
	const n, d = 150, regpath.DenseColumns + 10
	rng := stream.New(1, stream.Simulate)
	table := &data.Table{N: n, D: d}
	for j := range d {
		table.Names = append(table.Names, "c"+string(rune('a'+j/100))+string(rune('a'+j/10%10))+string(rune('a'+j%10)))
	}
	for range n {
		before := 0.0
		for range d {
			before = 0.6*before + 0.8*rng.NormFloat64()
			table.Values, table.Observed = append(table.Values, before), append(table.Observed, true)
		}
	}
	table, err := data.HideMCAR(table, 0.1, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return table
}

// With many columns: the chain is found by the pseudo-likelihood, and cut and resumed at every
// λ is never cut.
func TestPairwiseOfManyColumns(t *testing.T) {
	table := wide(t)
	s := trainers.Spec{Steps: engine.Config{Method: "pairwise", Workers: 2}, Network: &regpath.Config{Lambdas: 10}}
	want, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.True(t, want.Converged, want.Verdict)
	found, right := len(want.Network.Edges()), 0
	for j := range table.D - 1 {
		if want.Network.Adjacency.Has(j, j+1) {
			right++
		}
	}
	require.Greater(t, float64(right), 0.9*float64(table.D-1))
	require.Less(t, float64(found), 1.15*float64(table.D-1))
	for _, p := range want.Network.Points {
		require.Nil(t, p.Packed)
	}
	require.Contains(t, want.Network.Moments, "all correlations are shrunk by")
	require.Equal(t, want.Network.Moments, want.Model.Outcome.Moments)

	state, cuts := &trainers.State{}, 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		left := 3
		s.Steps.Observe = func(engine.Progress) {
			if left--; left == 0 {
				cancel()
			}
		}
		got, err := trainers.Estimate(ctx, table, s, trainers.Run{State: state})
		cancel()
		if err == nil {
			require.Greater(t, cuts, 2)
			require.Equal(t, want.Network.Precision, got.Network.Precision)
			require.Equal(t, want.Verdict, got.Verdict)
			return
		}
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
		cuts++
	}
}
