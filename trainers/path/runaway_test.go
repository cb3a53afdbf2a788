package path

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// Where one column is the sum of two others the precision has no minimum below some λ: the
// path ends there, says so, and what is chosen is finished.
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
		require.Contains(t, r.Warnings()[len(r.unfinishedWarning())], "below it the precision grows without bound")
	}
}

// With most cells missing turns do not come to the minimum at small λ. A path of which EBIC chooses
// ends after ten of these in a row, with the choice of one that goes on to its end, as paths do whose
// points are all of use: those that come without a choice, or whose rows are divided.
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
	require.Contains(t, r.Warnings()[1], fmt.Sprintf("number %d of 60: the minimum was out of reach at the last 10", n))
	ebic := r.Config.Select
	r.Config.Select = Selection{Kind: "cv", Folds: 5}
	require.Zero(t, r.patience())
	r.Config.Select, r.State.Points = ebic, r.State.Points[n-turnsPatience:] // none is finished: all may be chosen
	require.False(t, r.gaveUp())
}

// Cross-validation of em-exact goes by the likelihood of the rows held out.
func TestCrossValidationByLikelihood(t *testing.T) {
	_, table := testtables.Star(t, 5, 90, 0.3)
	standard, _ := data.Standardise(table)
	whole, err := New(engine.Problem{Table: standard}, engine.Config{Method: "em-exact", Seed: 1, Workers: 1}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 5, Select: Selection{Kind: "cv", Folds: 3}}, &State{})
	require.NoError(t, err)
	p := whole.parts()[1]
	r, heldOut, err := whole.part(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, heldOut, 5)
	for l, q := range r.State.Points {
		m := *r.model
		copy(m.Packed.Value, q.Packed)
		want := -2 * LogLikelihood(standard, p.heldOut, q.mean(5), m.Precision()) / float64(5*len(p.heldOut))
		require.InDelta(t, want, heldOut[l], 1e-9)
	}
}
