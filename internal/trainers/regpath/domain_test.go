package regpath

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func bounded(t *testing.T, n int, missing float64) (*data.Table, *domain.Domain) {
	t.Helper()
	g, _ := testtables.Star(t, 5, 10, 0)
	s, err := g.TruncateBelow(2, 0.2)
	require.NoError(t, err)
	s.Lower[3], s.Upper[3] = g.Mean[3]-1, g.Mean[3]+1.5
	rng := stream.New(11, stream.Simulate)
	table, err := g.SampleInside(s, n, rng)
	require.NoError(t, err)
	if missing > 0 {
		table, err = data.HideMCAR(table, missing, rng)
		require.NoError(t, err)
	}
	standard, scale := data.Standardise(table)
	return standard, s.Standardised(scale.Mean, scale.Deviation)
}

// Loss and gradients of ψ at θ = (η, P): mean over rows, and by row.
func gradients(t *testing.T, table *data.Table, s *domain.Domain, theta []float64) (loss float64, mean []float64, rows [][]float64) {
	t.Helper()
	m := model.NewGaussian(table.D, model.Natural)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}, engine.Config{Method: "full", Batch: 1})
	require.NoError(t, err)
	copy(m.Location.Value, theta)
	copy(m.Packed.Value, theta[table.D:])
	mean = make([]float64, len(theta))
	for i := range table.N {
		step, err := e.Gradient(0, []int{i}, 1)
		require.NoError(t, err)
		loss += step.Loss / float64(table.N)
		rows = append(rows, slices.Concat(step.Grads...))
		floats.AddScaled(mean, 1/float64(table.N), rows[i])
	}
	return loss, mean, rows
}

// The minimum of n ψ over the free θ and tr(Γ⁻¹V), by differences of gradients, which are linear in
// θ.
func price(t *testing.T, table *data.Table, s *domain.Domain, free []int, size int) (loss, trace float64) {
	t.Helper()
	theta := make([]float64, size)
	_, at0, _ := gradients(t, table, s, theta)
	hessian, gradient := mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
	for b, j := range free {
		theta[j] = 1
		_, at1, _ := gradients(t, table, s, theta)
		theta[j] = 0
		for a, i := range free {
			hessian.Set(a, b, at1[i]-at0[i])
		}
		gradient.SetVec(b, -at0[j])
	}
	var least mat.VecDense
	require.NoError(t, least.SolveVec(hessian, gradient))
	for a, i := range free {
		theta[i] = least.AtVec(a)
	}
	loss, mean, rows := gradients(t, table, s, theta)
	spread := mat.NewDense(len(free), len(free), nil)
	for a, i := range free {
		require.InDelta(t, 0, mean[i], 1e-9)
		for b, j := range free {
			for _, g := range rows {
				spread.Set(a, b, spread.At(a, b)+g[i]*g[j]/float64(table.N))
			}
		}
	}
	// ∇ψ = 2∇½ψ: V is a quarter of these second moments, Γ half the Hessian.
	var solved mat.Dense
	require.NoError(t, solved.Solve(hessian, spread))
	own := 0.0
	var diagonal []int
	for a, i := range free {
		if i < table.D || isDiagonal(i-table.D, table.D) {
			diagonal = append(diagonal, a)
		}
	}
	h, v := mat.NewDense(len(diagonal), len(diagonal), nil), mat.NewDense(len(diagonal), len(diagonal), nil)
	for a, i := range diagonal {
		for b, j := range diagonal {
			h.Set(a, b, hessian.At(i, j))
			v.Set(a, b, spread.At(i, j))
		}
	}
	var without mat.Dense
	require.NoError(t, without.Solve(h, v))
	own = mat.Trace(&without) / 2
	return float64(table.N) * loss, mat.Trace(&solved)/2 - own
}

func isDiagonal(packed, d int) bool {
	for j := range d {
		if packed == j*d-j*(j-1)/2 {
			return true
		}
	}
	return false
}

func TestEBICOnADomainByItsFormula(t *testing.T) {
	const d, n, gamma = 5, 120, 0.4
	table, s := bounded(t, n, 0)
	r, scores := estimate(t, engine.Problem{Table: table, Domain: s}, engine.Config{Method: "full"}, Config{Lambdas: 12, Select: Selection{Kind: "ebic", Gamma: new(gamma)}})
	edge, judged, best := math.Log(n)+4*gamma*math.Log(d), 0, 0
	for _, i := range r.networks() {
		if math.IsNaN(scores[i]) {
			continue
		}
		judged++
		if scores[i] < scores[best] {
			best = i
		}
		var free []int
		for j := range d {
			free = append(free, j)
		}
		for k, held := range without(Adjacency(r.State.Points[i].Packed, d, r.Config.Threshold).Edge, d) {
			if !held {
				free = append(free, d+k)
			}
		}
		loss, trace := price(t, table, s, free, d+d*(d+1)/2)
		require.InDelta(t, loss+trace*edge, scores[i], 1e-6, "point %d", i)
	}
	require.Greater(t, judged, 3)
	require.Equal(t, best, r.State.Refine.Index)
	require.True(t, r.State.Refine.Refit)
	require.True(t, r.State.Refine.Converged, r.Verdict())
}

func TestRefitOnADomain(t *testing.T) {
	table, s := bounded(t, 150, 0.3)
	run := func(workers int, state *State) (*Run, []float64) {
		r, err := New(engine.Problem{Table: table, Domain: s}, engine.Config{Method: "em-exact", Workers: workers, Draws: 4},
			Config{Lambdas: 8, InitialIter: 60, Iterations: 5}, state)
		require.NoError(t, err)
		scores, err := r.Estimate(context.Background(), func() error { return nil })
		require.NoError(t, err)
		return r, scores
	}
	state := &State{}
	one, scores := run(1, state)
	require.True(t, state.Refine.Converged, one.Verdict())
	require.Regexp(t, `converged: after \d+ more iterations on the \d+ edges of the chosen λ, without a penalty, the entries of the standardised precision would move by \S+ in a Newton step`, one.Verdict())
	require.Less(t, state.Refine.Movement, one.Config.Tolerance)
	require.Equal(t, state.Points[state.Refine.Index].Edges, one.edges(), "the edges are the chosen network's")
	packed := slices.Clone(one.packed())
	many, again := run(3, &State{})
	require.Equal(t, packed, many.packed())
	equal(t, scores, again)
	cut := *state
	cut.Refine = Refine{}
	resumed, again := run(1, &cut)
	require.Equal(t, packed, resumed.packed())
	equal(t, scores, again)

	// The mean gradient with new draws is 0 within noise.
	at := func(packed, linear []float64) float64 {
		m := model.NewGaussian(table.D, model.Natural)
		copy(m.Packed.Value, packed)
		copy(m.Location.Value, linear)
		grads := 0.0
		_, g, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}, engine.Config{Method: "em-exact-mc", Draws: 200}, 1)
		require.NoError(t, err)
		for _, v := range g[0] {
			grads = max(grads, math.Abs(v))
		}
		for i, held := range without(Adjacency(packed, table.D, one.Config.Threshold).Edge, table.D) {
			if !held {
				grads = max(grads, math.Abs(g[1][i]))
			}
		}
		return grads
	}
	point := state.Points[state.Refine.Index]
	require.Less(t, at(packed, one.model.Location.Value), 0.5*at(point.Packed, point.Linear))
}

func equal(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, v := range want {
		require.True(t, v == got[i] || math.IsNaN(v) && math.IsNaN(got[i]), "score %d: %v and %v", i, v, got[i])
	}
}
