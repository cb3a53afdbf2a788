package report

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/trainers"
	"missingscore/trainers/regpath"
)

func TestSelectionText(t *testing.T) {
	for _, c := range []struct {
		given        regpath.Selection
		bounded, law bool
		want         string
	}{
		{regpath.Selection{Kind: "ebic"}, false, false, "extended BIC on the observed cells, each network at its greatest likelihood, γ = 0.25"},
		{regpath.Selection{Kind: "ebic", Gamma: new(0.0)}, false, false, "extended BIC on the observed cells, each network at its greatest likelihood, γ = 0"},
		{regpath.Selection{Kind: "ebic", Gamma: new(0.5)}, false, true, "extended BIC with the score-matching loss in place of the likelihood, whose normaliser is not known with this missingness, γ = 0.5"},
		{regpath.Selection{Kind: "ebic", Gamma: new(0.5)}, true, false, "extended BIC, each network at its least score-matching loss on completed rows, in place of the likelihood, whose normaliser is not known on this support; an edge costs what a superfluous one gains; γ = 0.5"},
		{regpath.Selection{Kind: "cv", Folds: 7}, false, false, "cross-validation: least loss of the rows held out (of em-exact greatest likelihood), 7 folds"},
		{regpath.Selection{Kind: "cv"}, true, false, "cross-validation: least loss of the rows held out (of em-exact greatest likelihood), 5 folds"},
		{regpath.Selection{Kind: "stars", Beta: 0.1}, true, false, "StARS: the densest network with an instability of at most 0.1 over subsamples"},
		{regpath.Selection{Kind: "stars"}, false, false, "StARS: the densest network with an instability of at most 0.05 over subsamples"},
		{regpath.Selection{Kind: "density", Density: 0.2}, false, false, "density 0.2"},
		{regpath.Selection{Kind: "none"}, false, false, "none: the smallest λ"},
	} {
		s, err := c.given.Resolve(100)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Describe(c.bounded, c.law))
	}
}

func TestIterationsText(t *testing.T) {
	require.Equal(t, "accelerated, at each λ until 0.015 is more than 50 proximal gradient steps would move anything, at most 300",
		iterationsText(regpath.Config{Schedule: regpath.Accelerated, StopTol: 0.015, MaxIter: 300}))
	require.Equal(t, "200 at the largest λ, then 10 at each; step 0.015 per column",
		iterationsText(regpath.Config{Schedule: regpath.Fixed, InitialIter: 200, IterPerLambda: 10, Rate: 0.015}))
}

// A picture of the path has at most mostCurves pairs: the chosen ones, then the largest.
func TestCurves(t *testing.T) {
	const d = 40 // 780 pairs
	r := &trainers.NetworkResult{Threshold: 1e-6, Adjacency: network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}}
	packed := make([]float64, d*(d+1)/2)
	for j := range d {
		r.Names = append(r.Names, strconv.Itoa(j))
		packed[graph.PackedIndex(d, j, j)] = 1
		for k := range j {
			packed[graph.PackedIndex(d, k, j)] = 1e-4 * float64(j)
		}
	}
	r.Points = []regpath.Point{{Lambda: 2, Packed: make([]float64, len(packed))}, {Lambda: 1, Packed: packed}}
	for j := range d { // the empty network has no correlations, but a diagonal
		r.Points[0].Packed[graph.PackedIndex(d, j, j)] = 1
	}
	r.Adjacency.Edge[0] = true // 0 – 1, which is the weakest
	r.Network = &network.Network{Edges: []network.Edge{{From: "0", To: "1", PartialCorrelation: 0.2}}, Labels: map[string]string{"1": "one"}}
	drawn, left := curves(r)
	require.Len(t, drawn, mostCurves)
	require.Equal(t, d*(d-1)/2-mostCurves, left)
	require.True(t, drawn[0].Chosen)
	require.Equal(t, 0.2, drawn[0].Size, "as in the result")
	require.Equal(t, "0 – one", drawn[0].Name)
	require.Equal(t, []float64{2, 1}, drawn[0].X)
	require.InDeltaSlice(t, []float64{0, -1e-4}, drawn[0].Y, 1e-12)
	require.InDelta(t, -39e-4, drawn[1].Y[1], 1e-12)
	for _, c := range drawn[1:] {
		require.LessOrEqual(t, c.Y[1], -24e-4, c.Name)
	}
}
