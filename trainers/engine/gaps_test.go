package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/losses"
)

// Where draws are from the model itself their weights are equal, and the effective number is that
// of the draws, a mean over the rows with gaps; from elsewhere it is between 1 and that.
func TestEffectiveSizeOfAStep(t *testing.T) {
	const draws = 5
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 0, 5, 7, 0, 8}, []bool{true, true, true, false, true, true, false, true})
	require.NoError(t, err)
	for _, wide := range []bool{false, true} {
		m := model.NewGaussian(2, model.CholeskyFactor) // N(0, I)
		c := Config{Method: "iw", Batch: 4, Draws: draws, ProposalSD: 1, Seed: 1}
		if wide {
			c.ProposalSD = 3
		}
		e, err := New(Problem{Table: table, Model: m, Objective: losses.Classical{}}, c)
		require.NoError(t, err)
		s, err := e.Step(t.Context(), 0, table.AllRows(), 0.25)
		require.NoError(t, err)
		if !wide {
			require.InDelta(t, draws, s.EffectiveSize, 1e-9)
			continue
		}
		require.Greater(t, s.EffectiveSize, 1.)
		require.Less(t, s.EffectiveSize, draws-0.1)
	}
}
