package regpath

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

func TestADivergingRefinementKeepsThePath(t *testing.T) {
	_, table := testtables.Star(t, 5, 100, 0)
	half := domain.All(5)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0, 0}, B: 40}} // far from the rows: only η is fitted in addition
	for schedule, s := range map[string]*domain.Domain{Fixed: nil, Accelerated: half} {
		state := &State{}
		config := Config{Penalty: Penalty{Kind: "l1"}, Schedule: schedule, Lambdas: 3}
		r := startedOf(t, engine.Problem{Table: table, Domain: s}, engine.Config{Method: "full"}, config, state)
		r.Config.Tolerance = 0 // never reached
		whole(t, r)
		r.Engine.Config.Observe = func(p engine.Progress) {
			switch { // simulates an overflow
			case p.Iteration == 2 && schedule == Accelerated:
				state.Spectral.Gradient[0] = math.NaN()
			case p.Iteration == 2:
				r.packed()[0] = math.Inf(1)
			}
		}
		const chosen = 1
		r.choice.point = chosen
		for range 2 {
			require.NoError(t, r.refine(t.Context()))
			require.True(t, state.Refine.Done)
			require.False(t, state.Refine.Converged)
			require.Regexp(t, `^NOT converged: after the path the fit diverged: the (loss|gradient|precision) was not finite `+
				`at iteration \d+; the result is the path's`, r.Verdict())
			point := state.Points[chosen]
			require.Equal(t, point.Loss, state.Refine.Loss)
			require.Equal(t, point.Packed(), r.packed())
			if s != nil {
				require.Equal(t, point.Linear, r.model.Location.Value)
			}
		}
	}
}

func TestMovementTakesTheNoiseOut(t *testing.T) {
	require.True(t, math.IsInf(movement(nil, []float64{1}, []float64{0}), 1))
	// √((0.3² + 0.4²)/2); zeros on both sides are ignored
	require.InDelta(t, math.Sqrt(0.125), movement([]float64{0, 1, 2}, []float64{0, 1.3, 1.6}, make([]float64, 3)), 1e-12)
	require.InDelta(t, math.Sqrt(0.125-0.1), movement([]float64{0, 1, 2}, []float64{0, 1.3, 1.6}, []float64{0, 0.05, 0.05}), 1e-12)
	require.Zero(t, movement([]float64{1}, []float64{1.1}, []float64{1}))

	parts := [][]float64{{10}, {20}, {30}, {40}, {50}} // sums of ten: means 1 … 5
	mean, variance := blockMean(parts)
	require.InDelta(t, 3, mean[0], 1e-12)
	require.InDelta(t, 2.5/5, variance[0], 1e-12) // sample variance over the number of parts
}

// With all edges the loss per column, (−2 tr P + tr PSP)/d, is −tr S⁻¹/d.
func TestLossOfARefit(t *testing.T) {
	const d, n = 4, 200
	table := star(t, d, n, 0)
	r, _ := estimate(t, table, "em-exact",
		Config{Lambdas: 5, LambdaMin: 1e-7, Threshold: 1e-9, Select: Selection{Kind: "none"}, Refit: new(true)})
	require.True(t, r.State.Refine.Refit)
	require.Equal(t, d*(d-1)/2, r.chosenEdges())
	var s mat.SymDense
	stat.CovarianceMatrix(&s, mat.NewDense(n, d, table.Values), nil)
	s.ScaleSym((n-1.)/n, &s)
	require.InDelta(t, -mat.Trace(testtables.Inverse(t, &s))/d, r.State.Refine.Loss, 1e-4)
}

func TestAgainComesToTheSame(t *testing.T) {
	_, table := testtables.Star(t, 8, 400, 0.3)
	for _, method := range []string{"em-exact", "exact"} {
		for b := range 4 {
			rng, rows := stream.New(3, uint64(b)), make([]int, table.N)
			for i := range rows {
				rows[i] = rng.IntN(table.N)
			}
			slices.Sort(rows)
			drawn := testtables.Must(table.Rows(rows))
			drawn, _ = data.Standardise(drawn)
			estimate := func(again bool) *Run {
				r := started(t, drawn, method, Config{Penalty: Penalty{Kind: "l1"}}, &State{})
				if again {
					r.Again()
				}
				finish(t, r)
				require.True(t, r.State.Refine.Converged)
				return r
			}
			cold, near := estimate(false), estimate(true)
			require.Less(t, len(near.rows), len(cold.rows))
			require.EqualValues(t, len(cold.rows), near.total())
			require.Equal(t, len(cold.State.Points), len(near.State.Points), method)
			require.Equal(t, cold.State.Refine.Index, near.State.Refine.Index, method)
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

// Maximum likelihood: covariances equal the table's on the edges and the diagonal.
func TestLikeliestWhereScoreMatchingHasNoMinimum(t *testing.T) {
	const d, n = 16, 20
	standard := star(t, d, n, 0)
	r, _ := estimate(t, standard, "full",
		Config{Penalty: Penalty{Kind: "l1"}, Select: Selection{Kind: "density", Density: 0.4}, Refit: new(true)})
	require.True(t, r.State.Refine.Likeliest, r.Verdict())
	require.True(t, r.State.Refine.Converged, r.Verdict())
	require.Contains(t, strings.Join(r.Warnings(), "\n"), "maximum likelihood estimates")
	sigma, s := testtables.Inverse(t, r.model.Precision()), mat.NewSymDense(d, nil)
	s.SymOuterK(1./n, mat.NewDense(n, d, standard.Values).T())
	edges, i := r.chosenPairs(), 0
	for j := range d {
		for k := j; k < d; k++ {
			if k > j {
				if i++; !edges[i-1] {
					require.Zero(t, r.model.Precision().At(j, k))
					continue
				}
			}
			require.InDelta(t, s.At(j, k), sigma.At(j, k), 1e-4, "%d, %d", j, k)
		}
	}
}
