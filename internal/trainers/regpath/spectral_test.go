package regpath

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

func estimate(t *testing.T, p engine.Problem, steps engine.Config, c Config) (r *Run, scores []float64) {
	t.Helper()
	r, err := New(p, steps, c, &State{})
	require.NoError(t, err)
	scores, err = r.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	return r, scores
}

func whole(t *testing.T, r *Run) {
	t.Helper()
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	require.NoError(t, r.pathTo(t.Context(), len(r.lambdas)))
}

// Five unconverged λ in a row end the path, or two if EBIC chooses, with the same choice.
func TestAcceleratedPathGivesUp(t *testing.T) {
	_, table := testtables.Star(t, 6, 200, 0.4)
	table, _ = data.Standardise(table)
	r, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{MaxIter: 2, StopTol: 1e-9, Select: Selection{Kind: "none"}})
	last := r.State.Points[len(r.State.Points)-1]
	require.True(t, last.Unfinished)
	require.Equal(t, 2, last.Iterations)
	require.Less(t, len(r.State.Points), 100)
	for _, p := range r.State.Points[len(r.State.Points)-patience:] {
		require.True(t, p.Unfinished)
	}
	require.False(t, r.State.Points[r.State.Refine.Index].Unfinished)
	require.Contains(t, r.Warnings()[0], "2 iterations did not converge, and none of them is chosen; raise Spec.Network.Iterations")
	require.Contains(t, r.Warnings()[1], "the path ends at λ")
	judged, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Penalty: Penalty{Kind: "l1"}, MaxIter: 2, StopTol: 1e-9, Select: Selection{Kind: "ebic"}})
	require.Equal(t, judgedPatience, judged.patience())
	ends := len(judged.State.Points)
	require.Less(t, ends, len(r.State.Points))
	for k, p := range judged.State.Points {
		require.Equal(t, r.State.Points[k].Packed, p.Packed)
		require.Equal(t, k >= ends-judgedPatience, p.Unfinished)
	}
	require.False(t, judged.State.Points[judged.State.Refine.Index].Unfinished)

	r.State.Points[0].Unfinished = true
	require.False(t, (&walk{problem: &problem{Config: r.Config, State: &State{Points: r.State.Points[:1]}}}).gaveUp())
	more, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Iterations: 2500, StopTol: 1e-6, Select: Selection{Kind: "none"}})
	require.Equal(t, 2500, more.Config.MaxIter)
	require.Equal(t, 2500, more.Config.RefineIter)
	require.Len(t, more.State.Points, 100)
	require.Empty(t, more.unfinished())
	noisy, err := New(engine.Problem{Table: table}, engine.Config{Method: "iw"}, Config{Iterations: 25}, &State{})
	require.NoError(t, err)
	require.Equal(t, 25, noisy.Config.IterPerLambda)
}

// With few rows and half of the cells missing the loss has no minimum below some λ; a smaller
// eigenvalue bound is reached with a smaller F.
func TestAcceleratedPathEndsWhereThereIsNoMinimum(t *testing.T) {
	const d = 12
	_, table := testtables.Star(t, d, 40, 0.5)
	table, _ = data.Standardise(table)
	before, ends := math.Inf(1), 0.
	for _, floor := range []float64{1e-2, 1e-3} {
		r, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Penalty: Penalty{Kind: "l1"}, MaxIter: 5000, Lambdas: 40, Floor: floor, Select: Selection{Kind: "none"}})
		n := len(r.State.Points)
		require.Less(t, n, 40)
		last := r.State.Points[n-1]
		for k, p := range r.State.Points {
			require.Equal(t, k == n-1, p.Unfinished, "λ %d", k)
			require.Equal(t, k == n-1, p.Stuck, "λ %d", k)
		}
		require.GreaterOrEqual(t, last.Edges, r.State.Points[n-2].Edges)
		require.Equal(t, n-2, r.State.Refine.Index)
		require.Contains(t, r.Warnings()[0], fmt.Sprintf("number %d of 40: the loss has no positive definite minimum", n))

		var e mat.EigenSym
		require.True(t, e.Factorize(graph.Unpack(d, last.Packed), false))
		require.InDelta(t, floor, e.Values(nil)[0], 0.1*floor)
		value := last.Loss + last.Lambda*newAccelerated(r.problem).penalty(last.Packed)
		require.Less(t, value, before)
		require.Contains(t, []float64{0, last.Lambda}, ends, "the same λ")
		before, ends = value, last.Lambda
	}
}

func TestUnfinishedPointsAreNotChosen(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.2)
	standard, _ := data.Standardise(table)
	for _, kind := range []string{"ebic", "density", "none"} {
		r, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "exact"}, Config{Lambdas: 12, Select: Selection{Kind: kind, Density: 0.5, Gamma: new(0.)}})
		chosen, err := choose(t.Context(), r.walk, r.test)
		require.NoError(t, err)
		r.State.Points[chosen.point].Unfinished = true
		r.State.Refitted = Refitted{}
		other, err := choose(t.Context(), r.walk, r.test)
		require.NoError(t, err)
		require.NotEqual(t, chosen.point, other.point, kind)
		for i := range r.State.Points {
			r.State.Points[i].Unfinished = true
		}
		r.State.Refitted = Refitted{}
		same, err := choose(t.Context(), r.walk, r.test)
		require.NoError(t, err)
		require.Equal(t, chosen.point, same.point, kind)
	}
}

// One column is the sum of two others.
func TestAPathOfDependentColumnsEnds(t *testing.T) {
	_, table := testtables.Star(t, 4, 200, 0)
	for i := range table.N {
		row := table.Values[i*4 : i*4+4]
		row[3] = row[0] + row[1]
		table.Observed[i*4+2] = i%3 > 0
	}
	standard, _ := data.Standardise(table)
	for _, kind := range []string{"ebic", "none"} {
		r, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "em-exact"}, Config{Select: Selection{Kind: kind, Gamma: new(0.)}})
		require.True(t, r.State.Runaway)
		n := len(r.State.Points)
		require.Greater(t, n, 5)
		require.Less(t, n, 100)
		last, before := r.State.Points[n-1], r.State.Points[n-2]
		require.True(t, last.Unfinished)
		require.Equal(t, before.Packed, last.Packed)
		require.False(t, r.State.Points[r.State.Refine.Index].Unfinished)
		require.True(t, engine.Finite(r.packed()...))
		require.Contains(t, r.Warnings()[len(r.unfinishedWarning())], "below it the precision diverges")
	}
}

// With most cells missing, EM does not converge at small λ; with EBIC the path ends after ten.
func TestAPathOutOfReachEnds(t *testing.T) {
	_, table := testtables.Star(t, 20, 70, 0.5)
	standard, _ := data.Standardise(table)
	at := func(kind string) *Run {
		r, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "em-exact"}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 60, Whole: true, Select: Selection{Kind: kind}})
		return r
	}
	r, whole := at("ebic"), at("none")
	n := len(r.State.Points)
	require.Less(t, n, len(whole.State.Points))
	for k, p := range whole.State.Points {
		require.Equal(t, k >= n-turnsPatience, p.Unfinished, "λ %d", k)
		if k < n {
			require.Equal(t, p.Packed, r.State.Points[k].Packed)
		}
	}
	require.Contains(t, r.Warnings()[1], fmt.Sprintf("number %d of 60: the last 10 did not converge", n))
	ebic := r.Config.Select
	r.Config.Select = Selection{Kind: "cv", Folds: 5}
	require.Zero(t, r.patience())
	r.Config.Select, r.State.Points = ebic, r.State.Points[n-turnsPatience:] // none is finished: all may be chosen
	require.False(t, r.gaveUp())
}

func TestCrossValidationByLikelihood(t *testing.T) {
	_, table := testtables.Star(t, 5, 90, 0.3)
	standard, _ := data.Standardise(table)
	whole, err := New(engine.Problem{Table: standard}, engine.Config{Method: "em-exact", Seed: 1, Workers: 1}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 5, Select: Selection{Kind: "cv", Folds: 3}}, &State{})
	require.NoError(t, err)
	p := partsOf(whole)[1]
	r, heldOut, err := part(t.Context(), whole.walk, p)
	require.NoError(t, err)
	require.Len(t, heldOut, 5)
	for l, q := range r.State.Points {
		m := *r.model
		copy(m.Packed.Value, q.Packed)
		want := -2 * LogLikelihood(standard, p.heldOut, q.mean(5), m.Precision()) / float64(5*len(p.heldOut))
		require.InDelta(t, want, heldOut[l], 1e-9)
	}
}
