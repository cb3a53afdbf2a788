package path

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// Edges are the pairs whose q value is small enough, whatever the path's points have; tests
// are made once and kept in the state.
func TestFDRTakesPairsBySmallQ(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.3)
	r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Select: Selection{Kind: "fdr", Rate: 0.1}, Lambdas: 12}, &State{})
	require.NoError(t, err)
	made, pairs := 0, make([]network.Uncertainty, r.pairs())
	for i := range pairs {
		pairs[i] = network.Unknown(10)
		pairs[i].Q = 0.5
	}
	pairs[1].Q, pairs[4].Q, pairs[5].Q = 0.1, 0.02, 0.11
	r.Test = func(context.Context) (Tests, error) {
		made++
		return Tests{Pairs: pairs}, nil
	}
	_, err = r.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	require.Equal(t, 1, made)
	for i, edge := range Adjacency(r.Model().Packed.Value, r.Table.D, 1e-6).Edge {
		require.Equal(t, i == 1 || i == 4, edge, "pair %d", i)
	}
	require.Contains(t, r.Choice(), "2 of ")
	require.True(t, r.State.Refine.Refit)

	again, err := r.choose(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, made, "what is known is not tested again")
	require.True(t, again.edges[1] && again.edges[4] && !again.edges[5])
}

// The γ that is given is that of every EBIC on the way, of the choice of a penalty, too.
func TestFDRUsesGammaForThePenalty(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.3)
	scores := func(kind string) []float64 {
		r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Select: Selection{Kind: kind, Gamma: new(2.0)}, Lambdas: 12}, &State{})
		require.NoError(t, err)
		r.Test = func(context.Context) (Tests, error) { return Tests{Pairs: make([]network.Uncertainty, r.pairs())}, nil }
		_, err = r.Estimate(t.Context(), func() error { return nil })
		require.NoError(t, err)
		return r.State.Auto.Scores
	}
	require.NotEmpty(t, scores("ebic"))
	require.Equal(t, scores("ebic"), scores("fdr"))
}
