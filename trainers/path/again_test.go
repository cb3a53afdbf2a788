package path

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// On resamples Again comes to the network that a path from scratch has, with the same
// sizes within the tolerance of its iterations, in as many λ or fewer.
func TestAgainComesToTheSame(t *testing.T) {
	_, table := testtables.Star(t, 8, 400, 0.3)
	for _, method := range []string{"em-exact", "exact"} {
		for b := range 4 {
			rng, rows := stream.New(3, uint64(b)), make([]int, table.N)
			for i := range rows {
				rows[i] = rng.IntN(table.N)
			}
			slices.Sort(rows)
			drawn, err := table.Rows(rows)
			require.NoError(t, err)
			drawn, _ = data.Standardise(drawn)
			estimate := func(again bool) *Run {
				r, err := New(engine.Problem{Table: drawn}, engine.Config{Method: method}, Config{Penalty: Penalty{Kind: "l1"}}, &State{})
				require.NoError(t, err)
				if again {
					r.Again()
				}
				_, err = r.Estimate(t.Context(), func() error { return nil })
				require.NoError(t, err)
				require.True(t, r.State.Refine.Converged)
				return r
			}
			cold, near := estimate(false), estimate(true)
			require.Less(t, len(near.rows), len(cold.rows))
			require.EqualValues(t, len(cold.rows), near.total())
			require.LessOrEqual(t, len(near.State.Points), len(cold.State.Points), method)
			a := Adjacency(cold.packed(), table.D, cold.Config.Threshold)
			require.Equal(t, a, Adjacency(near.packed(), table.D, cold.Config.Threshold), "%s, %d", method, b)
			require.Positive(t, a.Count())
			for i, v := range cold.packed() {
				require.InDelta(t, v, near.packed()[i], cold.Config.Tolerance, "%s, %d", method, b)
			}
			require.InDelta(t, cold.State.Refine.Loss, near.State.Refine.Loss, 1e-3*math.Abs(cold.State.Refine.Loss))
		}
	}
}
