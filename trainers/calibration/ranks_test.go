// Package calibration asks whether draws are from the law that they are said to be from, by
// ranks (simulation-based calibration, Talts et al. 2018, arXiv:1804.06788): a row is drawn
// from a model whose independent draws are known, some of its cells are hidden, and L draws
// are made of them. The true cell's rank among these, 0 to L, is uniform if the draws are from
// the model's conditional; too narrow draws give ranks at both ends, too wide ones ranks in
// the middle, draws with a wrong mean a slope.
//
//	Case           a way to draw; Cases are those that are said to draw from the law itself
//	Approximation  a way with an error that goes by a size; Approximations are such ways
//	Wrong          ways that are known to be wrong, so that the test can fail
//	subjects       what rows are drawn from
//	ofCells, ofRows, weighted, ofTables    ranks of hidden cells, of whole rows, of draws with
//	               weights, and of hidden cells where the law is not known either
package calibration

import (
	"context"

	"gonum.org/v1/gonum/stat/distuv"
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

// sized is c with a size.
func (c Case) sized(size string) Case {
	c.Size = size
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
