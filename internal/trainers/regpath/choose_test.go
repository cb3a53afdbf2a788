package regpath

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/losses"
)

// logLikelihood is of the observed cells of rows; −Inf if P is not positive definite.
func logLikelihood(t *data.Table, rows []int, mean []float64, p *mat.SymDense) float64 {
	e, err := engine.New(engine.Problem{Table: t, Model: model.NewGaussian(t.D, model.Natural), Objective: losses.Classical}, engine.Config{Method: "em-exact"})
	if err == nil {
		if step, _, err := em.Expect(e, rows, slices.Concat(mean, graph.Pack(p)), nil); err == nil {
			return step.LogLikelihood
		}
	}
	return math.Inf(-1)
}

// A quasi-Newton method on logLikelihood with numerical derivatives.
func likeliest(t *testing.T, table *data.Table, packed []float64, threshold float64) float64 {
	t.Helper()
	d, rows := table.D, table.AllRows()
	var free []int
	for i, held := range without(Adjacency(packed, d, threshold).Edge, d) {
		if !held {
			free = append(free, i)
		}
	}
	value := func(x []float64) float64 {
		p := make([]float64, len(packed))
		for a, i := range free {
			p[i] = x[d+a]
		}
		return -logLikelihood(table, rows, x[:d], graph.Unpack(d, p))
	}
	start := make([]float64, d)
	for _, i := range free {
		start = append(start, packed[i])
	}
	r, err := optimize.Minimize(optimize.Problem{Func: value, Grad: func(grad, x []float64) {
		fd.Gradient(grad, value, x, &fd.Settings{Formula: fd.Central})
	}}, start, &optimize.Settings{GradientThreshold: 1e-4}, &optimize.BFGS{})
	if r == nil {
		require.NoError(t, err)
	}
	return -r.F
}

func TestEBICByItsFormula(t *testing.T) {
	const d = 4
	standard := star(t, d, 150, 0.3)
	both := 0.0
	for i := range standard.N {
		for j := range d {
			for k := range j {
				if standard.Observed[i*d+j] && standard.Observed[i*d+k] {
					both++
				}
			}
		}
	}
	for method, gamma := range map[string]float64{"exact": 0.7, "em-exact": 0} {
		s := Selection{Kind: "ebic", Gamma: &gamma}
		if method == "em-exact" { // the default for this table
			s.Gamma = nil
		}
		r, scores := estimate(t, standard, method, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 20, Select: s})
		require.Len(t, scores, 20)
		best, judged := -1, 0
		for i, p := range r.State.Points {
			if math.IsNaN(scores[i]) {
				continue
			}
			judged++
			edges := float64(p.Edges)
			want := -2*likeliest(t, standard, p.Packed(), r.Config.Threshold) + edges*math.Log(both/6) + 4*gamma*edges*math.Log(d)
			// At rate ρ the remaining gain is ρ/(1−ρ) times refitGain, and −2 log L doubles it: 5 suffices
			// up to ρ = 0.71.
			require.InDelta(t, want, scores[i], 5*refitGain, "%s, point %d", method, i)
			if best < 0 || scores[i] < scores[best] {
				best = i
			}
		}
		require.Greater(t, judged, 5)
		require.Equal(t, best, r.State.Refine.Index)
		require.True(t, r.State.Refine.Refit)
		require.True(t, r.State.Refine.Converged, r.Verdict())
		if method == "em-exact" { // the result is that network
			at := -2*logLikelihood(standard, r.rows, r.model.Mean(), r.model.Precision()) + float64(r.edges())*(math.Log(both/6)+4*gamma*math.Log(d))
			require.InDelta(t, scores[best], at, 5*refitGain)
		}
	}
}

// Between its bounds an edge costs log(2d²).
func TestDefaultGamma(t *testing.T) {
	for _, c := range []struct {
		d       int
		n, want float64
	}{{10, 300, 0}, {10, 100, 0.07526}, {20, 300, 0.08185}, {40, 300, 0.16042}, {60, 150, 0.23638}, {100, 500, 0.20026}, {100, 100, 0.25}, {2, 5, 0.16952}} {
		require.InDelta(t, c.want, DefaultGamma(c.d, c.n), 1e-5)
	}
	require.InDelta(t, math.Log(2*40*40), math.Log(300)+4*DefaultGamma(40, 300)*math.Log(40), 1e-12)
}

func TestFDRTakesPairsBySmallQ(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.3)
	r := started(t, table, "em-exact", Config{Select: Selection{Kind: "fdr", Rate: 0.1}, Lambdas: 12}, &State{})
	made, pairs := 0, make([]network.Uncertainty, r.candidates())
	for i := range pairs {
		pairs[i] = network.Unknown(10)
		pairs[i].Q = 0.5
	}
	pairs[1].Q, pairs[4].Q, pairs[5].Q = 0.1, 0.02, 0.11
	r.Test = func(context.Context) (Tests, error) {
		made++
		return Tests{Pairs: pairs}, nil
	}
	finish(t, r)
	require.Equal(t, 1, made)
	for i, edge := range Adjacency(r.Model().Packed.Value, r.Table.D, 1e-6).Edge {
		require.Equal(t, i == 1 || i == 4, edge, "pair %d", i)
	}
	require.Contains(t, r.Choice(), "2 of ")
	require.True(t, r.State.Refine.Refit)
}

func TestSearchEndsWhereScoresRise(t *testing.T) {
	valley := func(n int, at, rise float64) (scores []float64) {
		for i := range n {
			scores = append(scores, 1000+rise*math.Abs(float64(i)-at))
		}
		return scores
	}
	late := valley(60, 37, 1)
	for i := range 37 {
		late[i] = late[0] + 0.1*float64(i) // rises first
	}
	deep, unknown := slices.Clone(late), valley(20, 6, 100)
	deep[16], deep[28] = deep[0]-0.5, deep[0]-1
	unknown[0] = math.NaN()
	for rule, c := range map[string]struct {
		scores             []float64
		best, seen, unseen int
	}{
		"16 is not seen, as 12 is halfway back up":                {valley(60, 8, 100), 8, 12, 16},
		"no network is worse by leastRise: four in a row after 8": {valley(60, 9, 0.5), 9, 20, 28},
		"four in a row after 0":                                   {late, 0, 16, 20},
		"lower scores lead further":                               {deep, 37, 37, -1},
		"the last network":                                        {valley(6, 5, 100), 5, 5, -1},
		"a network without a score":                               {unknown, 6, 6, -1},
	} {
		t.Run(rule, func(t *testing.T) {
			all, seen := make([]int, len(c.scores)), map[int]bool{}
			for i := range all {
				all[i] = i
			}
			best, err := search(func(int) ([]int, error) { return all, nil }, func(points []int) error {
				for _, p := range points {
					seen[p] = true
				}
				return nil
			}, func(p int) float64 { return c.scores[p] })
			require.NoError(t, err)
			require.Equal(t, c.best, best)
			require.True(t, seen[c.seen])
			require.False(t, seen[c.unseen])
		})
	}
}

// Unfinished points are not chosen unless all are.
func TestLeastScore(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		scores     []float64
		unfinished []int
		point      int
		unjudged   bool
	}{
		{[]float64{nan, nan, nan, nan}, nil, 0, true},
		{[]float64{nan, nan, nan, nan}, []int{0}, 1, true},
		{[]float64{nan, 3, 2, nan}, nil, 2, false},
		{[]float64{nan, 3, 2, nan}, []int{2}, 1, false},
		{[]float64{nan, 3, 2, nan}, []int{0, 1, 2, 3}, 2, false},
		{[]float64{1, nan, 2, 1}, nil, 0, false},
	} {
		points := make([]Point, 4)
		for _, i := range c.unfinished {
			points[i].Unfinished = true
		}
		got := leastScore(points, c.scores)
		require.Equal(t, c.point, got.point)
		require.Equal(t, c.unjudged, got.unjudged)
	}
}

func TestThePathEndsWhereTheChoiceEnds(t *testing.T) {
	standard := star(t, 12, 300, 0.2)
	box := domain.All(12)
	box.Lower[0] = -4
	complete := star(t, 12, 300, 0)
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
			r, _ := estimateOf(t, engine.Problem{Table: table, Domain: c.domain}, engine.Config{Method: c.method}, Config{Penalty: Penalty{Kind: c.penalty}, Select: Selection{Kind: c.kind}, Whole: whole})
			return r
		}
		cut, whole := at(false), at(true)
		require.Len(t, whole.State.Points, 100, c)
		require.False(t, whole.CutByChoice(), c)
		n := len(cut.State.Points)
		require.Less(t, n, 90, c)
		require.True(t, cut.CutByChoice(), c)
		require.Equal(t, fmt.Sprint(whole.State.Refine), fmt.Sprint(cut.State.Refine), c) // includes NaN
		require.Less(t, cut.State.Refine.Index, n-1, c)
		require.Equal(t, whole.packed(), cut.packed(), c)
		require.Equal(t, whole.choice.edges, cut.choice.edges, c)
		for k, p := range cut.State.Points {
			require.Equal(t, whole.State.Points[k].Packed(), p.Packed(), "%v, λ %d", c, k)
		}
		if c.kind == "ebic" {
			require.Equal(t, fmt.Sprint(whole.choice.scores[:n]), fmt.Sprint(cut.choice.scores), c)
		}
		require.Subset(t, whole.Warnings(), cut.Warnings(), c)
	}
}
