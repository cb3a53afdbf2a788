package path

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// A step after the path that gives no finite number costs the refinement only: the
// result is the path's point, and a state that is taken up again says the same.
func TestADivergingRefinementKeepsThePath(t *testing.T) {
	_, table := testtables.Star(t, 5, 100, 0)
	half := domain.All(5)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0, 0}, B: 40}} // far from the rows: it is η that is fitted along
	for name, s := range map[string]*domain.Domain{"mean kept": nil, "mean fitted": half} {
		for _, schedule := range []string{"fixed", "accelerated"} {
			t.Run(name+" "+schedule, func(t *testing.T) {
				state := &State{}
				r, err := New(engine.Problem{Table: table, Domain: s}, engine.Config{Method: "full"}, Config{Penalty: Penalty{Kind: "l1"}, Schedule: schedule, Lambdas: 3}, state)
				require.NoError(t, err)
				r.Config.Tolerance = 0 // nothing meets it
				walk(t, r)
				r.Engine.Config.Observe = func(p engine.Progress) {
					if p.Iteration == 2 { // as if it had overflowed
						if schedule == "accelerated" {
							state.Spectral.Gradient[0] = math.NaN()
						} else {
							r.packed()[0] = math.Inf(1)
						}
					}
				}
				const chosen = 1
				r.choice.point = chosen
				for range 2 {
					require.NoError(t, r.refine(context.Background()))
					require.True(t, state.Refine.Done)
					require.False(t, state.Refine.Converged)
					require.Regexp(t, `^NOT converged: after the path the fit diverged: the (loss|gradient|precision) was not finite at iteration \d+; the result is the path's`, r.Verdict())
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

func TestMovementTakesTheNoiseOut(t *testing.T) {
	require.True(t, math.IsInf(movement(nil, []float64{1}, []float64{0}), 1))
	// zeros on both sides do not dilute: √((0.3² + 0.4²)/2)
	require.InDelta(t, math.Sqrt(0.125), movement([]float64{0, 1, 2}, []float64{0, 1.3, 1.6}, make([]float64, 3)), 1e-12)
	require.InDelta(t, math.Sqrt(0.125-0.1), movement([]float64{0, 1, 2}, []float64{0, 1.3, 1.6}, []float64{0, 0.05, 0.05}), 1e-12)
	require.Zero(t, movement([]float64{1}, []float64{1.1}, []float64{1}))

	parts := [][]float64{{10}, {20}, {30}, {40}, {50}} // sums of ten: means 1 … 5
	mean, variance := blockMean(parts)
	require.InDelta(t, 3, mean[0], 1e-12)
	require.InDelta(t, 2.5/5, variance[0], 1e-12) // sample variance over the number of parts
}
