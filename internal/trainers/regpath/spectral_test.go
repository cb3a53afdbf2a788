package regpath

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

// A simulated star with standardised columns.
func star(t *testing.T, d, n int, missing float64) *data.Table {
	t.Helper()
	_, table := testtables.Star(t, d, n, missing)
	standard, _ := data.Standardise(table)
	return standard
}

func startedOf(t *testing.T, p engine.Problem, steps engine.Config, c Config, s *State) *Run {
	t.Helper()
	r, err := New(p, steps, c, s)
	require.NoError(t, err)
	return r
}

func started(t *testing.T, table *data.Table, method string, c Config, s *State) *Run {
	t.Helper()
	return startedOf(t, engine.Problem{Table: table}, engine.Config{Method: method}, c, s)
}

func estimateOf(t *testing.T, p engine.Problem, steps engine.Config, c Config) (r *Run, scores []float64) {
	t.Helper()
	r = startedOf(t, p, steps, c, &State{})
	return r, finish(t, r)
}

func finish(t *testing.T, r *Run) (scores []float64) {
	t.Helper()
	scores, err := r.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	return scores
}

func estimate(t *testing.T, table *data.Table, method string, c Config) (r *Run, scores []float64) {
	t.Helper()
	return estimateOf(t, engine.Problem{Table: table}, engine.Config{Method: method}, c)
}

// Loss and gradients at a network: by P alone, or by η and P if linear is given. nil: the start.
func gradientAt(
	t *testing.T, p engine.Problem, steps engine.Config, linear, packed []float64, iteration int,
) (float64, [][]float64) {
	t.Helper()
	m := model.NewGaussian(p.Table.D, model.FreeSymmetric)
	if linear != nil {
		m = model.NewGaussian(p.Table.D, model.Natural)
	}
	copy(m.Location.Value, linear)
	copy(m.Packed.Value, packed)
	p.Model, p.Objective = m, losses.ObjectiveFor(p.Domain, domain.Weight{})
	loss, grads, err := engine.Gradient(p, steps, iteration)
	require.NoError(t, err)
	return loss, grads
}

func whole(t *testing.T, r *Run) {
	t.Helper()
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	require.NoError(t, r.pathTo(t.Context(), len(r.lambdas)))
}

// A path ends after some unconverged λ in a row, sooner if EBIC chooses, with the same points; none of them
// is chosen.
func TestPathsThatEnd(t *testing.T) {
	_, few := testtables.Star(t, 6, 200, 0.4)
	_, gaps := testtables.Star(t, 20, 70, 0.5) // EM does not converge at small λ
	_, dependent := testtables.Star(t, 4, 200, 0)
	for i := range dependent.N {
		row := dependent.Values[i*4 : i*4+4]
		row[3] = row[0] + row[1]
		dependent.Observed[i*4+2] = i%3 > 0
	}
	for _, c := range []struct {
		table      *data.Table
		method     string
		config     Config
		unfinished int // at the end
		warnings   []string
	}{
		{few, "exact", Config{MaxIter: 2, StopTol: 1e-9}, judgedPatience, []string{"the path ends at λ",
			"2 iterations did not converge, and they are not chosen; raise Spec.Network.Iterations"}},
		{gaps, "em-exact", Config{Lambdas: 60, Whole: true}, turnsPatience, []string{"of 60: the last 10 did not converge"}},
		{dependent, "em-exact", Config{}, 1, []string{"below it the loss has no minimum"}},
	} {
		standard, _ := data.Standardise(c.table)
		at := func(s Selection) *Run {
			c.config.Penalty, c.config.Select = Penalty{Kind: "l1"}, s
			r, _ := estimate(t, standard, c.method, c.config)
			require.False(t, r.State.Points[r.State.Refine.Index].Unfinished)
			require.True(t, engine.Finite(r.packed()...))
			return r
		}
		judged, whole := at(Selection{Kind: "ebic", Gamma: new(0.)}), at(Selection{Kind: "none"})
		n := len(judged.State.Points)
		require.Less(t, n, judged.Config.Lambdas)
		require.Equal(t, c.unfinished > 1, n < len(whole.State.Points))
		for k, p := range whole.State.Points {
			require.Equal(t, k >= n-c.unfinished, p.Unfinished, "λ %d", k)
			if k < n {
				require.Equal(t, p.Packed(), judged.State.Points[k].Packed())
			}
		}
		for _, words := range c.warnings {
			require.Contains(t, strings.Join(judged.Warnings(), "\n"), words)
		}
		if judged.stuck() {
			require.Equal(t, judged.State.Points[n-2].Packed(), judged.State.Points[n-1].Packed())
			continue
		}
		judged.State.Points = judged.State.Points[n-c.unfinished:] // none is finished: all may be chosen
		require.False(t, judged.gaveUp())
	}
	for method, want := range map[string][3]int{"exact": {2500, 0, 2500}, "iw": {0, 2500, 2500}} {
		r := started(t, few, method, Config{Iterations: 2500}, &State{})
		require.Equal(t, want, [3]int{r.Config.MaxIter, r.Config.IterPerLambda, r.Config.RefineIter})
	}
}

// With few rows and half of the cells missing the loss has no minimum below some λ; a smaller
// eigenvalue bound is reached with a smaller F.
func TestAcceleratedPathEndsWhereThereIsNoMinimum(t *testing.T) {
	const d = 12
	table := star(t, d, 40, 0.5)
	before, ends := math.Inf(1), 0.
	for _, floor := range []float64{1e-2, 1e-3} {
		r, _ := estimate(t, table, "exact", Config{Penalty: Penalty{Kind: "l1"}, MaxIter: 5000, Lambdas: 40, Floor: floor, Select: Selection{Kind: "none"}})
		n := len(r.State.Points)
		require.Less(t, n, 40)
		last := r.State.Points[n-1]
		for k, p := range r.State.Points {
			require.Equal(t, k == n-1, p.Unfinished && p.Stuck, "λ %d", k)
		}
		require.GreaterOrEqual(t, last.Edges, r.State.Points[n-2].Edges)
		require.Equal(t, n-2, r.State.Refine.Index)
		require.Contains(t, r.Warnings()[0], fmt.Sprintf("number %d of 40: below it the loss has no minimum", n))

		var e mat.EigenSym
		require.True(t, e.Factorize(graph.Unpack(d, last.Packed()), false))
		require.InDelta(t, floor, e.Values(nil)[0], 0.1*floor)
		value := last.Loss + last.Lambda*newAccelerated(r.problem).penalty(last.Packed())
		require.Less(t, value, before)
		require.Contains(t, []float64{0, last.Lambda}, ends, "the same λ")
		before, ends = value, last.Lambda
	}
}
