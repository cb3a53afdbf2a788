package path

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// estimate runs a path to its end.
func estimate(t *testing.T, p engine.Problem, steps engine.Config, c Config) (r *Run, scores []float64) {
	t.Helper()
	r, err := New(p, steps, c, &State{})
	require.NoError(t, err)
	scores, err = r.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	return r, scores
}

// walk runs the whole path, and nothing after it.
func walk(t *testing.T, r *Run) {
	t.Helper()
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	require.NoError(t, r.pathTo(t.Context(), len(r.lambdas)))
}

// minima runs a path of the standardised table to the minima.
func minima(t *testing.T, p engine.Problem, steps engine.Config, c Config) []Point {
	t.Helper()
	c.StopTol, c.Select, c.PathOnly = 1e-7, Selection{Kind: "none"}, true
	r, _ := estimate(t, p, steps, c)
	require.Equal(t, "accelerated", r.Config.Schedule)
	require.Len(t, r.State.Points, c.Lambdas)
	return r.State.Points
}

// At a minimum the gradient per column is 0 for η and the diagonal, −λ sign P_jk
// where an edge is, and within ±λ elsewhere.
func TestAcceleratedPathMeetsItsConditions(t *testing.T) {
	const d = 6
	g, sparse := testtables.Star(t, d, 300, 0.4)
	_, complete := testtables.Star(t, d, 300, 0)
	box, err := g.TruncateBelow(2, 0.3)
	require.NoError(t, err)
	inside, err := g.SampleInside(box, 300, stream.New(2, 2))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		table  *data.Table
		method string
		domain *domain.Domain
	}{
		"exact":       {sparse, "exact", nil},
		"full":        {complete, "full", nil},
		"zeroed":      {sparse, "zeroed", nil},
		"full in box": {inside, "full", box},
	} {
		t.Run(name, func(t *testing.T) {
			table, scale := data.Standardise(c.table)
			s, steps := c.domain.Standardised(scale.Mean, scale.Deviation), engine.Config{Method: c.method}
			kind := model.FreeSymmetric
			if s.Bounded() {
				kind = model.Natural
			}
			top := LambdaMax(table, s, domain.Weight{})
			edges := 0
			for _, p := range minima(t, engine.Problem{Table: table, Domain: s}, steps, Config{Lambdas: 5, LambdaMax: top, LambdaMin: top / 10}) {
				require.Zero(t, p.Projections)
				m := model.NewGaussian(d, kind)
				copy(m.Packed.Value, p.Packed)
				copy(m.Location.Value, p.Linear)
				loss, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}, steps, 0)
				require.NoError(t, err)
				require.InDelta(t, loss/d, p.Loss, 1e-12)
				if kind == model.Natural {
					for _, v := range grads[0] {
						require.InDelta(t, 0, v/d, 1e-7)
					}
				}
				for j := range d {
					require.InDelta(t, 0, grads[1][graph.PackedIndex(d, j, j)]/d, 1e-7)
					for k := j + 1; k < d; k++ {
						at := graph.PackedIndex(d, j, k)
						v, g := p.Packed[at], grads[1][at]/d
						if v == 0 {
							require.LessOrEqual(t, math.Abs(g), p.Lambda+1e-7)
						} else {
							require.InDelta(t, -math.Copysign(p.Lambda, v), g, 1e-7)
							edges++
						}
					}
				}
			}
			require.Greater(t, edges, 10)
		})
	}
}

// The minimum is where proximal gradient steps end, and it does not depend on where
// the iterations start: along a path, or from P = I.
func TestAcceleratedPathIsThePlainOnesLimit(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.4)
	table, _ = data.Standardise(table)
	p, steps := engine.Problem{Table: table}, engine.Config{Method: "exact"}
	top := LambdaMax(table, nil, domain.Weight{})
	warm := minima(t, p, steps, Config{Lambdas: 6, LambdaMax: top, LambdaMin: top / 20})
	require.Greater(t, warm[5].Edges, 3, "of 6")
	for _, k := range []int{1, 3, 5} {
		lambda := warm[k].Lambda
		cold := minima(t, p, steps, Config{Lambdas: 1, LambdaMax: lambda, LambdaMin: lambda})
		require.InDeltaSlice(t, warm[k].Packed, cold[0].Packed, 1e-6)
		plain, _ := estimate(t, p, steps, Config{Schedule: Fixed, InitialIter: 6000, Lambdas: 1, LambdaMax: lambda, LambdaMin: lambda,
			Select: Selection{Kind: "none"}, PathOnly: true})
		require.Equal(t, "fixed", plain.Config.Schedule)
		require.InDeltaSlice(t, plain.State.Points[0].Packed, warm[k].Packed, 1e-6)
		require.Less(t, cold[0].Iterations, 100)
	}
}

// A λ whose minimum is not reached is told and never chosen; five in a row end the path, and two
// one of which EBIC chooses, with the choice that it has of the longer one.
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
	require.Contains(t, r.Warnings()[0], "2 iterations did not reach the minimum, and they are not chosen: raise --iterations")
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

	// The number of iterations can be raised, and one unfinished λ does not end the path.
	r.State.Points[0].Unfinished = true
	require.False(t, (&Run{problem: &problem{Config: r.Config, State: &State{Points: r.State.Points[:1]}}}).gaveUp())
	more, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Iterations: 2500, StopTol: 1e-6, Select: Selection{Kind: "none"}})
	require.Equal(t, 2500, more.Config.MaxIter)
	require.Equal(t, 2500, more.Config.RefineIter)
	require.Len(t, more.State.Points, 100)
	require.Empty(t, more.unfinished())
	noisy, err := New(engine.Problem{Table: table}, engine.Config{Method: "iw"}, Config{Iterations: 25}, &State{})
	require.NoError(t, err)
	require.Equal(t, 25, noisy.Config.IterPerLambda)
}

// With few rows and half of the cells missing the loss has no minimum from some λ down. The path
// ends at the first of these, at the precision that it has come to, and says why: it
// does not go back to a sparse network. A smaller bound on its eigenvalues is
// run into as well, with a smaller F.
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
		require.Contains(t, r.Warnings()[0], fmt.Sprintf("number %d of 40: there the loss falls towards a precision that is not positive definite", n))

		var e mat.EigenSym
		require.True(t, e.Factorize(graph.Unpack(d, last.Packed), false))
		require.InDelta(t, floor, e.Values(nil)[0], 0.1*floor)
		value := last.Loss + last.Lambda*newAccelerated(r.problem).penalty(last.Packed)
		require.Less(t, value, before)
		require.Contains(t, []float64{0, last.Lambda}, ends, "the same λ")
		before, ends = value, last.Lambda
	}
}

// No way to choose takes an unfinished point, unless all are.
func TestUnfinishedPointsAreNotChosen(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.2)
	standard, _ := data.Standardise(table)
	for _, kind := range []string{"ebic", "density", "none"} {
		r, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "exact"}, Config{Lambdas: 12, Select: Selection{Kind: kind, Density: 0.5, Gamma: new(0.)}})
		chosen, err := r.choose(t.Context())
		require.NoError(t, err)
		r.State.Points[chosen.point].Unfinished = true
		r.State.Refitted = Refitted{}
		other, err := r.choose(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, chosen.point, other.point, kind)
		for i := range r.State.Points {
			r.State.Points[i].Unfinished = true
		}
		r.State.Refitted = Refitted{}
		same, err := r.choose(t.Context())
		require.NoError(t, err)
		require.Equal(t, chosen.point, same.point, kind)
	}
}
