package trainers

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
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
