package path

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// At each λ the equation of the complete data holds, with its penalty: the graph's own
// gradient by (η, P) is 0 on η and the diagonal, −λ sign P_jk on edges, at most λ off them.
func TestTurnsSolveTheEquation(t *testing.T) {
	const d = 6
	_, table := testtables.Star(t, d, 120, 0.4)
	standard, _ := data.Standardise(table)
	p := engine.Problem{Table: standard}
	r, _ := estimate(t, p, engine.Config{Method: "em-exact"}, Config{Lambdas: 6, StopTol: 1e-7, MaxIter: 400, Select: Selection{Kind: "none"}, PathOnly: true})
	require.Equal(t, EM, r.Config.Schedule)
	require.Empty(t, r.unfinished())
	m := model.NewGaussian(d, model.Natural)
	p.Model, p.Objective = m, losses.Classical{}
	edges := 0
	for _, q := range r.State.Points {
		copy(m.Location.Value, q.Linear)
		copy(m.Packed.Value, q.Packed)
		_, grads, err := engine.Gradient(p, engine.Config{Method: "em-exact"}, 0)
		require.NoError(t, err)
		require.InDeltaSlice(t, make([]float64, d), grads[0], 1e-6)
		for j := range d {
			require.InDelta(t, 0, grads[1][graph.PackedIndex(d, j, j)]/d, 1e-6)
			for k := j + 1; k < d; k++ {
				at := graph.PackedIndex(d, j, k)
				slope := grads[1][at] / d
				if q.Packed[at] == 0 {
					require.LessOrEqual(t, math.Abs(slope), q.Lambda+1e-6)
					continue
				}
				edges++
				require.InDelta(t, -math.Copysign(q.Lambda, q.Packed[at]), slope, 1e-6)
			}
		}
	}
	require.Greater(t, edges, 20)
}

// A run that is cut between any two turns and taken up again ends as one that is not, byte
// for byte, whatever the number of workers.
func TestTurnsAreTakenUpAgain(t *testing.T) {
	_, table := testtables.Star(t, 5, 400, 0.5)
	standard, _ := data.Standardise(table)
	c := Config{Lambdas: 5, Select: Selection{Kind: "ebic", Gamma: new(0.)}}
	start := func(s *State, workers int, observe func(engine.Progress)) *Run {
		r, err := New(engine.Problem{Table: standard}, engine.Config{Method: "em-exact", Workers: workers, Batch: 100, Observe: observe}, c, s)
		require.NoError(t, err)
		return r
	}
	whole := start(&State{}, 1, nil)
	_, err := whole.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)

	s, seen := &State{}, 0
	var saved engine.State
	for resumed := false; ; resumed = true {
		ctx, cancel := context.WithCancel(t.Context())
		turns := 0
		r := start(s, 2, func(p engine.Progress) { // a refit begins again
			if turns++; turns == 3 && p.Stage == "path" {
				cancel()
			}
		})
		if resumed {
			r.Restore(saved)
		}
		_, err := r.Estimate(ctx, func() error { return nil })
		saved = r.Capture()
		cancel()
		if seen++; err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, seen, 100)
	}
	require.Greater(t, seen, 5)
	require.Equal(t, fmt.Sprint(whole.State.Points, whole.State.Refine), fmt.Sprint(s.Points, s.Refine)) // NaN is not NaN
	require.Equal(t, whole.Capture().Model, saved.Model)
}
