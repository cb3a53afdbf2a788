package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/path"
)

func TestSelectionText(t *testing.T) {
	for _, c := range []struct {
		given        path.Selection
		bounded, law bool
		want         string
	}{
		{path.Selection{Kind: "ebic"}, false, false, "extended BIC on the observed cells, each network at its greatest likelihood, γ = 0.25"},
		{path.Selection{Kind: "ebic", Gamma: new(0.0)}, false, false, "extended BIC on the observed cells, each network at its greatest likelihood, γ = 0"},
		{path.Selection{Kind: "ebic", Gamma: new(0.5)}, false, true, "extended BIC with the score-matching loss in place of the likelihood, whose normaliser is not known with this missingness, γ = 0.5"},
		{path.Selection{Kind: "ebic", Gamma: new(0.5)}, true, false, "extended BIC, each network at its least score-matching loss on completed rows, in place of the likelihood, whose normaliser is not known on this support; an edge costs what a superfluous one gains; γ = 0.5"},
		{path.Selection{Kind: "cv", Folds: 7}, false, false, "cross-validation: least loss of the rows held out (of em-exact greatest likelihood), 7 folds"},
		{path.Selection{Kind: "cv"}, true, false, "cross-validation: least loss of the rows held out (of em-exact greatest likelihood), 5 folds"},
		{path.Selection{Kind: "stars", Beta: 0.1}, true, false, "StARS: the densest network with an instability of at most 0.1 over subsamples"},
		{path.Selection{Kind: "stars"}, false, false, "StARS: the densest network with an instability of at most 0.05 over subsamples"},
		{path.Selection{Kind: "density", Density: 0.2}, false, false, "density 0.2"},
		{path.Selection{Kind: "none"}, false, false, "none: the smallest λ"},
	} {
		s, err := c.given.Resolve(100)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Describe(c.bounded, c.law))
	}
}

func TestIterationsText(t *testing.T) {
	require.Equal(t, "accelerated, at each λ until 0.015 is more than 50 proximal gradient steps would move anything, at most 300",
		iterationsText(path.Config{Schedule: path.Accelerated, StopTol: 0.015, MaxIter: 300}))
	require.Equal(t, "200 at the largest λ, then 10 at each; step 0.015 per column",
		iterationsText(path.Config{Schedule: path.Fixed, InitialIter: 200, IterPerLambda: 10, Rate: 0.015}))
}
