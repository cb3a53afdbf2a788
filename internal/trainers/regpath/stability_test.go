package regpath

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/testtables"
)

// B = 50, τ = 3/4: 1/(2(½ − 1/100)) and 2; τ = 0.9: 4(0.1 + 0.01)/1.02 and 1.25 (Shah & Samworth
// 2013, theorem 2 and equation 5).
func TestFalseEdges(t *testing.T) {
	sharp, unimodal, any := falseEdges(190, 19, 0.75)
	require.InDelta(t, 190*2.86031064229e-03, sharp, 1e-6)
	require.InDelta(t, 1.9/0.98, unimodal, 1e-12)
	require.InDelta(t, 1.9*2, any, 1e-12)
	_, unimodal, any = falseEdges(190, 19, 0.9)
	require.InDelta(t, 1.9*0.44/1.02, unimodal, 1e-12)
	require.InDelta(t, 1.9*1.25, any, 1e-12)
	sharp, unimodal, any = falseEdges(190, 190, 0.75)
	require.Equal(t, [3]float64{190, 190, 190}, [3]float64{sharp, unimodal, any})
	_, unimodal, any = falseEdges(100, 40, 0.6) // the unimodal bound holds for τ > min(½ + 0.16, ½ + 1/100 + 0.12)
	require.InDelta(t, 16/0.2, any, 1e-12)
	require.Equal(t, any, unimodal)
	_, unimodal, _ = falseEdges(100, 30, 0.6)
	require.InDelta(t, 9/0.38, unimodal, 1e-12)
	require.Equal(t, 90, needed(0.9))
	require.Equal(t, 76, needed(0.751))
	for _, pairs := range []int{3, 45, 190} {
		s := Selection{FalseEdges: 1, Share: 0.75}
		q := halfSize(pairs, s)
		now, _, _ := falseEdges(pairs, q, s.Share)
		more, _, _ := falseEdges(pairs, q+1, s.Share)
		require.Greater(t, more, 1.)
		if q > 1 {
			require.LessOrEqual(t, now, 1.)
		}
	}
}

func TestStabilityFindsEdges(t *testing.T) {
	standard := star(t, 6, 400, 0.2)
	for _, method := range []string{"em-exact", "exact"} {
		config := Config{Lambdas: 30, Select: Selection{Kind: "stability"}}
		r, scores := estimate(t, standard, method, config)
		require.Nil(t, scores)
		edges := Adjacency(r.packed(), 6, 1e-9)
		require.GreaterOrEqual(t, edges.Count(), 4)
		require.Equal(t, r.choice.edges, edges.Edge)
		for i, edge := range edges.Edge { // of the centre: the first five pairs
			require.Equal(t, i < 5 && r.State.Resampled.Counts[0][i] >= 75, edge)
		}
		require.True(t, r.State.Refine.Converged)
		require.Contains(t, r.Verdict(), "chosen edges, without a penalty,")
		require.NotContains(t, strings.Join(r.Warnings(), "\n"), "smallest of the path")
	}
}

// An edge in 75 halves is chosen, one in 74 is not; the refit starts from the most similar network.
func TestStabilityCounts(t *testing.T) {
	_, table := testtables.Star(t, 3, 40, 0.2)
	of := func(packed ...float64) Point {
		p := PointOf(packed, 3)
		p.Edges = len(p.P.At)
		return p
	}
	s := &State{
		Points:    []Point{of(1, 0, 0, 1, 0, 1), of(1, 0.1, 0, 1, 0.1, 1), of(1, 0.1, 0.1, 1, 0.1, 1)},
		Resampled: Resampled{Counts: [][]int{{75, 74, 100}}, Most: 2},
	}
	r := started(t, table, "em-exact", Config{Select: Selection{Kind: "stability"}}, s)
	c, err := choose(t.Context(), r.walk, r.test)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true}, c.edges)
	require.Equal(t, 1, c.point)
	require.Contains(t, c.words, "2 edges are in at least 75 % of 100 networks of half samples with at most 2 edges each; expect at most")
	require.Contains(t, c.words, "2.7 for any") // 2²/(½ · 3)
}

func TestHalvesEndEarly(t *testing.T) {
	_, table := testtables.Star(t, 5, 60, 0.2)
	config := Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 200, Select: Selection{Kind: "stability"}}
	r := started(t, table, "em-exact", config, &State{Resampled: Resampled{Most: 2}})
	part, _, err := part(t.Context(), r.walk, partsOf(r)[0])
	require.NoError(t, err)
	last := len(part.State.Points) - 1
	require.Less(t, last, 150)
	require.Greater(t, part.State.Points[last].Edges, 2)
	for _, p := range part.State.Points[:last] {
		require.LessOrEqual(t, p.Edges, 2)
	}
	require.Equal(t, 2, part.State.Points[last-1].Edges)
}

// R's stabs 0.6-4 (function D of helpers.R, in R 4.2.2 with tol = 1e-12): q edges of p pairs,
// threshold τ, B halvings, D(θ², 2τ − 1, B, −1/2) and D(θ, τ, 2B, −1/4).
func TestTailBounds(t *testing.T) {
	for _, c := range []struct {
		q, p  float64
		t     int // 2Bτ
		b     int
		pairs float64
		whole float64
	}{
		{19, 190, 75, 50, 2.86031064229e-03, 6.52707491351e-03},
		{19, 190, 90, 50, 7.55306036375e-04, 2.04440535543e-03},
		{19, 190, 60, 50, 0.0114133943555, 0.0148616238514},
		{10, 45, 75, 50, 0.0181426177817, 0.0421469289806},
		{3, 190, 90, 50, 1.58191081675e-05, 2.23465921212e-05},
		{60, 190, 90, 50, 0.0123661438653, 0.0340184285066},
		{40, 1225, 75, 50, 2.66767124568e-04, 4.30052453785e-04},
		{5, 28, 32, 20, 0.00912662735725, 0.02158890100350},
	} {
		theta := c.q / c.p
		require.InEpsilon(t, c.pairs, tailBound(theta*theta, c.t-c.b, c.b, -1./2), 1e-4)
		require.InEpsilon(t, c.whole, tailBound(theta, c.t, 2*c.b, -1./4), 1e-4)
	}
	require.Less(t, tailBound(0.1, 11, 50, -1./2), 5./11, "Markov's, at the least t that a falling curve has a tail beyond")
	require.Equal(t, 1., tailBound(0.1, 10, 50, -1./2))
	require.Equal(t, 1., tailBound(0.4, 70, 100, -1./4), "Markov's inequality has no more to say")
}
