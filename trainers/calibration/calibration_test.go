// Package calibration tests by ranks whether draws are from the law that they should be from
// (simulation-based calibration, Talts et al. 2018, arXiv:1804.06788): a row is drawn from a model
// with independent draws, some of its cells are hidden, and L draws are made of them. The true
// cell's rank among these, 0 to L, is uniform if the draws are from the model's conditional; too
// narrow draws give ranks at both ends, too wide ones ranks in the middle, draws with a wrong mean
// a slope.
package calibration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted/diffusion"
)

// Draws is L: how many draws a true value is ranked among.
const Draws = 19

// Case is a way to draw, from a model whose independent draws are known.
type Case struct {
	Command string // impute or sample; source: what a fit completes rows from; or table: cells and law from a table alone
	Model   string
	Sampler string // of the command, or the name of the source
	Size    string // what the error of draws goes by, in words; empty for none

	// Cost is how many times as long as elsewhere a rank takes: there are so many times fewer.
	// 0 is 1.
	Cost int

	ranks func(ctx context.Context, n int, seed uint64) ([]int, error)
}

// Name is the case in words.
func (c Case) Name() string { return c.Command + ", " + c.Model + ", " + c.Way() }

// Way is the sampler with its size.
func (c Case) Way() string {
	if c.Size == "" {
		return c.Sampler
	}
	return c.Sampler + ", " + c.Size
}

// Ranks are those of n true values, fewer by the case's cost and at least one, each from 0 to Draws.
func (c Case) Ranks(ctx context.Context, n int, seed uint64) ([]int, error) {
	return c.ranks(ctx, max(1, n/max(c.Cost, 1)), seed)
}

// costing is c at so many times the cost.
func (c Case) costing(cost int) Case {
	c.Cost = cost
	return c
}

// Counts are how often each rank came.
func Counts(ranks []int) []int {
	counts := make([]int, Draws+1)
	for _, r := range ranks {
		counts[r]++
	}
	return counts
}

// Uniform is the p value of Pearson's χ² test that all ranks are as likely,
//
//	χ² = Σ_r (count_r − e)²/e,   e = n/(L+1),   with L degrees of freedom
func Uniform(counts []int) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	expected, sum := float64(n)/float64(len(counts)), 0.0
	for _, c := range counts {
		gap := float64(c) - expected
		sum += gap * gap / expected
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(sum)
}

const most = 1000 // ranks

// Ranks are uniform: at 1e-3 in all cases together (Bonferroni), with fixed seeds.
func TestRanksAreUniform(t *testing.T) {
	n := most
	if !slowtest.Set() {
		n /= 2
	}
	for _, c := range Cases {
		require.Greater(t, p(t, c, n), 1e-3/float64(len(Cases)), c.Name())
	}
}

// p is the p value of n ranks of a case.
func p(t *testing.T, c Case, n int) float64 {
	ranks, err := c.Ranks(t.Context(), n, 11)
	require.NoError(t, err, c.Name())
	p := Uniform(Counts(ranks))
	t.Logf("%s: p %.3g, %v", c.Name(), p, Counts(ranks))
	return p
}

// The test sees the error of each approximate sampler at a coarse setting and not at a fine one.
func TestErrorsGoBySize(t *testing.T) {
	for _, a := range Approximations {
		require.Less(t, p(t, a.Coarse, most), 1e-4, a.Coarse.Name())
		require.Greater(t, p(t, a.Fine, most), 1e-3/float64(len(Approximations)), a.Fine.Name())
	}
}

// What is known to be wrong is seen to be, with few rows.
func TestHeldParametersAreNoticed(t *testing.T) {
	require.Less(t, p(t, Wrong, most), 1e-4)
}

// The test itself: uniform ranks pass, those of draws 1.3 times too narrow or wide, or with a
// mean that is off by a fifth of a deviation, do not.
func TestUniformNotices(t *testing.T) {
	rng := stream.New(1)
	p := func(sd, mean float64) float64 {
		var ranks []int
		for range 1000 {
			truth, rank := rng.NormFloat64(), 0
			for range Draws {
				if mean+sd*rng.NormFloat64() < truth {
					rank++
				}
			}
			ranks = append(ranks, rank)
		}
		return Uniform(Counts(ranks))
	}
	require.Greater(t, p(1, 0), 0.01)
	require.Less(t, p(1/1.3, 0), 1e-4)
	require.Less(t, p(1.3, 0), 1e-4)
	require.Less(t, p(1, 0.2), 1e-4)
	counts := []int{30, 50, 40} // χ² = 5 with 2 degrees of freedom
	require.InDelta(t, distuv.ChiSquared{K: 2}.Survival(5), Uniform(counts), 1e-12)
	require.InDelta(t, 0.0820850, Uniform(counts), 1e-7) // exp(−5/2)
}

// Cases are samplers that claim to draw from the law itself. A new one is a line here. The
// imputer's weights are those of the exact conditional here.
var Cases = []Case{
	impute("gaussian", "exact"),
	impute("gaussian in a box", "exact"),
	impute("gaussian in a half-space", "exact"),
	impute("gaussian on a simplex", "exact"),
	impute("gaussian in a corner", "exact").costing(4),
	impute("gaussian, censored", "exact"),
	impute("gaussian", "mcmc"),
	impute("gaussian in a box", "mcmc"),
	impute("gaussian in a half-space", "mcmc").costing(4),
	impute("gaussian on a simplex", "mcmc").costing(4),
	impute("mixture", "mcmc"),
	impute("gaussian with an imputer", "imputer"),
	impute("gaussian with categories", "latent"),
	sample("gaussian", "hmc"),
	sample("gaussian in a box", "hmc"),
	sample("gaussian in a half-space", "hmc").costing(4),
	sample("gaussian on a simplex", "hmc").costing(4),
	sample("gaussian", "mala"),
	sample("mixture", "hmc"),
	source("gaussian", "exact"),
	source("gaussian in a box", "exact"),
	source("gaussian on a simplex", "exact"),
	source("gaussian", "chains"),
	source("gaussian in a box", "chains"),
	source("gaussian in a half-space", "chains"),
	source("mixture", "chains"),
}

// Approximation is a way to draw with an error that a size makes as small as one likes.
type Approximation struct {
	Error        string // its order
	Coarse, Fine Case
}

// Approximations are such ways. A new one is a line here.
var Approximations = []Approximation{
	{"1/r", resampled("gaussian", proposer{"proposal", 4}, 10), resampled("gaussian", proposer{"proposal", 4}, 100)},
	{"1/r", resampled("gaussian, poor imputer", proposer{kind: "imputer"}, 10), resampled("gaussian, poor imputer", proposer{kind: "imputer"}, 100)},
	{"square of Heun's step", sampleAlong("ode", "5 steps", diffusion.Options{Steps: 5}), sampleAlong("ode", "20 steps", diffusion.Options{Steps: 20})},
	{"Euler's step", sampleAlong("sde", "5 steps", diffusion.Options{Steps: 5}), sampleAlong("sde", "100 steps", diffusion.Options{Steps: 100})},
	{"1/(levels × steps at each)", sampleAlong("langevin", "10 × 10 steps", diffusion.Options{Steps: 10, Corrections: 10}),
		sampleAlong("langevin", "30 × 30 steps", diffusion.Options{Steps: 30, Corrections: 30}).costing(4)},
	{"1/(levels × steps at each)", imputeAlong("10 × 10 steps", diffusion.Options{Steps: 10, Corrections: 10}),
		imputeAlong("30 × 30 steps", diffusion.Options{Steps: 30, Corrections: 30}).costing(4)},
	{"1/rows: parameters held at their estimate", held(20, false), held(50, false)},
}

// Wrong is known to be from another law: the mean of many cells has less spread than it should
// have if the law is held at its estimate, whose own error they share (Rubin 1987).
var Wrong = held(20, true)
