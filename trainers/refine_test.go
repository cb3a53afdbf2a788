package trainers

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/graph"
)

// A step after the path that gives no finite number costs the refinement only: the
// result is the path's point, and a state that is taken up again says the same.
func TestADivergingRefinementKeepsThePath(t *testing.T) {
	_, table := StarTable(t, 5, 100, 0)
	half := domain.All(5)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0, 0}, B: 40}} // far from the rows: it is η that is fitted along
	for name, s := range map[string]*domain.Domain{"mean kept": nil, "mean fitted": half} {
		for _, schedule := range []string{"fixed", "accelerated"} {
			t.Run(name+" "+schedule, func(t *testing.T) {
				c := PathConfig{Config: Config{Method: "full", Domain: s}, Schedule: schedule, Lambdas: 3}
				state := &State{}
				r, err := newPathRun(table, c, state, nil, nil)
				require.NoError(t, err)
				require.NoError(t, r.path(context.Background()))
				r.engine.config.Observe = func(p Progress) {
					if p.Iteration == 2 { // as if it had overflowed
						if r.accelerated() {
							state.Spectral.Gradient[0] = math.NaN()
						} else {
							r.packed()[0] = math.Inf(1)
						}
					}
				}
				const chosen = 1
				for range 2 {
					require.NoError(t, r.refine(context.Background(), chosen, 0))
					require.True(t, state.Refine.Done)
					require.False(t, state.Refine.Converged)
					require.Regexp(t, `^NOT converged: after the path the fit diverged: the (loss|gradient|precision) was not finite at iteration \d+; the result is the path's`, r.verdict(state.Refine))
					point := state.Points[chosen]
					require.Equal(t, point.Loss, state.Refine.Loss)
					require.Equal(t, point.Packed, r.packed())
					if s != nil {
						require.Equal(t, point.Linear, r.model.Location.Value)
					}
				}
			})
		}
	}
}

// Without refinement the result is the path's point, in the table's units, and the same
// from a state taken up again.
func TestPathOnly(t *testing.T) {
	_, table := StarTable(t, 5, 200, 0.3)
	for _, method := range []string{"exact", "iw"} {
		c := NetworkConfig{PathConfig: PathConfig{Config: Config{Method: method, Seed: 2}, Lambdas: 4, First: 10, Each: 5}, Select: Selection{Kind: "none"}, PathOnly: true, KeepUnits: true}
		state := &State{}
		r, err := EstimateNetwork(context.Background(), table, c, state, nil)
		require.NoError(t, err)
		require.Equal(t, "not refined: the result is the path's point at the chosen λ", r.Verdict)
		require.False(t, r.Converged)
		require.Equal(t, 10+4*5, state.Iteration)
		require.Equal(t, graph.Unpack(5, r.Points[r.Chosen].Packed), r.Precision)
		require.Equal(t, r.Points[r.Chosen].Loss, r.Loss)
		again, err := EstimateNetwork(context.Background(), table, c, state, nil)
		require.NoError(t, err)
		require.Equal(t, r.Precision, again.Precision)
		c.PathOnly = false
		_, err = EstimateNetwork(context.Background(), table, c, state, nil)
		require.ErrorIs(t, err, ErrOtherRun)
	}
}
