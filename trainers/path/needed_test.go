package path

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// A path that ends with the choice of λ makes the same choice as the whole path: its points, scores
// and result are equal, and it has no warnings about λ that it never reached.
func TestThePathEndsWhereTheChoiceEnds(t *testing.T) {
	_, table := testtables.Star(t, 12, 300, 0.2)
	standard, _ := data.Standardise(table)
	box := domain.All(12)
	box.Lower[0] = -4
	_, complete := testtables.Star(t, 12, 300, 0)
	complete, _ = data.Standardise(complete)
	for _, c := range []struct {
		method, penalty, kind string
		domain                *domain.Domain
	}{
		{"em-exact", "l1", "ebic", nil}, {"em-exact", "adaptive", "ebic", nil}, {"em-exact", "ridge", "ebic", nil}, {"em-exact", "auto", "ebic", nil},
		{"exact", "l1", "ebic", nil}, {"pairwise", "l1", "ebic", nil}, {"em-exact", "l1", "stability", nil},
		{"full", "l1", "ebic", box},
	} {
		table := standard
		if c.domain != nil {
			table = complete
		}
		at := func(whole bool) *Run {
			r, _ := estimate(t, engine.Problem{Table: table, Domain: c.domain}, engine.Config{Method: c.method}, Config{Penalty: Penalty{Kind: c.penalty}, Select: Selection{Kind: c.kind}, Whole: whole})
			return r
		}
		cut, whole := at(false), at(true)
		require.Len(t, whole.State.Points, 100, c)
		require.False(t, whole.CutByChoice(), c)
		n := len(cut.State.Points)
		require.Less(t, n, 70, c)
		require.True(t, cut.CutByChoice(), c)
		require.Equal(t, fmt.Sprint(whole.State.Refine), fmt.Sprint(cut.State.Refine), c) // NaN included
		require.Less(t, cut.State.Refine.Index, n-1, c)
		require.Equal(t, whole.packed(), cut.packed(), c)
		require.Equal(t, whole.choice.edges, cut.choice.edges, c)
		for k, p := range cut.State.Points {
			require.Equal(t, whole.State.Points[k].Packed, p.Packed, "%v, λ %d", c, k)
		}
		if c.kind == "ebic" {
			require.Equal(t, fmt.Sprint(whole.choice.scores[:n]), fmt.Sprint(cut.choice.scores), c)
		}
		require.Subset(t, whole.Warnings(), cut.Warnings(), c)
	}
}

// Selections that need the whole path go on with the one that the penalty auto has compared by, and
// come to what that penalty's own path is.
func TestAPathGoesOnAfterPenaltiesWereCompared(t *testing.T) {
	_, table := testtables.Star(t, 12, 300, 0.2)
	standard, _ := data.Standardise(table)
	for _, method := range []string{"em-exact", "exact"} {
		at := func(p Penalty) *Run {
			r, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: method}, Config{Penalty: p, Lambdas: 40, Select: Selection{Kind: "none"}, Refit: new(true)})
			return r
		}
		auto := at(Penalty{Kind: "auto"})
		own := at(auto.Penalty())
		require.Len(t, auto.State.Points, 40)
		require.Equal(t, fmt.Sprint(own.State.Points), fmt.Sprint(auto.State.Points))
	}
}
