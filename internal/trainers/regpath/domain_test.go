package regpath

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
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
	standard, scale := data.Standardise(testtables.Sampled(t, g, s, n, missing, rng))
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

// minimum moves the free elements of θ to the zero of a gradient linear in θ and returns its Jacobian.
func minimum(t *testing.T, free []int, theta []float64, gradient func(theta []float64) []float64) *mat.SymDense {
	t.Helper()
	start := gradient(theta)
	hessian, right := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
	for b, j := range free {
		theta[j]++
		moved := gradient(theta)
		theta[j]--
		for a, i := range free {
			hessian.SetSym(a, b, moved[i]-start[i])
		}
		right.SetVec(b, -start[j])
	}
	var least mat.VecDense
	require.NoError(t, least.SolveVec(hessian, right))
	for a, i := range free {
		theta[i] += least.AtVec(a)
	}
	return hessian
}

// The minimum of n ψ over the free θ, and tr(Γ⁻¹V) less the diagonal's alone. ∇ψ = 2∇½ψ: V is a quarter of the second moments of
// gradients, Γ half the Hessian.
func price(t *testing.T, table *data.Table, s *domain.Domain, free []int, size int) (loss, trace float64) {
	t.Helper()
	theta := make([]float64, size)
	hessian := minimum(t, free, theta, func(theta []float64) []float64 {
		_, mean, _ := gradients(t, table, s, theta)
		return mean
	})
	of := func(g []float64) *mat.VecDense {
		v := mat.NewVecDense(len(free), nil)
		for a, i := range free {
			v.SetVec(a, g[i])
		}
		return v
	}
	loss, mean, rows := gradients(t, table, s, theta)
	require.InDelta(t, 0, mat.Norm(of(mean), math.Inf(1)), 1e-9)
	spread := mat.NewSymDense(len(free), nil)
	for _, g := range rows {
		spread.SymRankOne(spread, 1/float64(table.N), of(g))
	}
	var all, diagonal []int
	for a, i := range free {
		all = append(all, a)
		first := func(j int) bool { return i == table.D+graph.PackedIndex(table.D, j, j) }
		if i < table.D || slices.ContainsFunc([]int{0, 1, 2, 3, 4}, first) {
			diagonal = append(diagonal, a)
		}
	}
	parameters := func(of []int) float64 {
		var h, v mat.SymDense
		var solved mat.Dense
		h.SubsetSym(hessian, of)
		v.SubsetSym(spread, of)
		require.NoError(t, solved.Solve(&h, &v))
		return mat.Trace(&solved) / 2
	}
	return float64(table.N) * loss, parameters(all) - parameters(diagonal)
}

func TestEBICOnADomainByItsFormula(t *testing.T) {
	const d, n, gamma = 5, 120, 0.4
	table, s := bounded(t, n, 0)
	r, scores := estimateOf(t, engine.Problem{Table: table, Domain: s}, engine.Config{Method: "full"}, Config{Lambdas: 12, Select: Selection{Kind: "ebic", Gamma: new(gamma)}})
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
		for k, held := range without(Adjacency(r.State.Points[i].Packed(), d, r.Config.Threshold).Edge, d) {
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
	p := engine.Problem{Table: table, Domain: s}
	config := Config{Lambdas: 8, InitialIter: 60, Iterations: 5}
	one, _ := estimateOf(t, p, engine.Config{Method: "em-exact", Draws: 4}, config)
	state, packed := one.State, one.packed()
	require.True(t, state.Refine.Converged, one.Verdict())
	require.Regexp(t, `converged: .* the standardised precision moves by \S+, the limit is`, one.Verdict())
	require.Less(t, state.Refine.Movement, one.Config.Tolerance)
	require.Equal(t, state.Points[state.Refine.Index].Edges, one.edges(), "the edges are the chosen network's")
	requireResumes(t, p, engine.Config{Method: "em-exact", Draws: 4}, config)

	// The mean gradient with new draws is 0 within noise.
	at := func(packed, linear []float64) (most float64) {
		_, g := gradientAt(t, p, engine.Config{Method: "em-exact-mc", Draws: 200}, linear, packed, 1)
		for i, held := range without(Adjacency(packed, table.D, one.Config.Threshold).Edge, table.D) {
			if !held {
				most = max(most, math.Abs(g[1][i]))
			}
		}
		return max(most, floats.Norm(g[0], math.Inf(1)))
	}
	point := state.Points[state.Refine.Index]
	require.Less(t, at(packed, one.model.Location.Value), 0.5*at(point.Packed(), point.Linear))
}
