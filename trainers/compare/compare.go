// Package compare tests whether two networks, each of a table with missing cells, differ:
// in single partial correlations, in the whole network and in its strength, by permuting
// which group a row belongs to, as R's NetworkComparisonTest does (van Borkulo, van Bork,
// Boschloo, Kossakowski, Tio, Schoevers, Borsboom and Waldorp 2022, Psychological Methods).
// Rows are permuted with their gaps, and every permutation estimates both networks again by
// the same method. docs/theory/comparing.md has the formulas.
package compare

import (
	"bytes"
	"context"
	"fmt"

	"missingscore/data"
	"missingscore/data/mcar"
	"missingscore/internal/setting"
	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/replicate"
)

// DefaultPermutations is how often rows are permuted unless something else is asked for.
const DefaultPermutations = 500

// Problem is two networks and how they were estimated.
type Problem struct {
	Tables   [2]*data.Table // of the same columns in the same order
	Networks [2]*trainers.Result
	// Spec is how a network is estimated of a table, by Tables and permuted ones alike.
	Spec func(t *data.Table) trainers.Spec
}

// Config says how networks are compared. Zero values are the defaults named here.
type Config struct {
	Permutations int     `json:"permutations"` // 500
	Level        float64 `json:"level"`        // of intervals; 0.95
	Seed         uint64  `json:"seed"`
}

// Resolve fills zero values and checks the rest.
func (c Config) Resolve() (Config, error) {
	setting.Default(&c.Permutations, DefaultPermutations)
	setting.Default(&c.Level, inference.DefaultLevel)
	if c.Permutations < 1 {
		return c, setting.Errorf("permutations", c.Permutations, "it must be 1 or more")
	}
	if !(c.Level > 0 && c.Level < 1) {
		return c, setting.Errorf("level", c.Level, "the level of intervals must be between 0 and 1")
	}
	return c, nil
}

// Result is how two networks differ.
type Result struct {
	Config Config
	Pairs  []Difference // j < k in column order
	// Structure is M, the largest absolute difference of a partial correlation; Strength is
	// S, the absolute difference of the sums of their sizes.
	Structure, Strength Test

	Strengths   [2]float64   // the sums
	Gaps        []mcar.Share // of columns with gaps, by group
	Failed      int          // permutations without two networks
	Unconverged int          // permutations with a network that has not converged
	Warnings    []string
}

// Test is a statistic with its p value by permutation.
type Test struct{ Observed, P float64 }

// Difference is that of one pair of columns, first network less second.
type Difference struct {
	From, To  string
	Weights   [2]float64 // partial correlations, 0 where there is no edge
	Value     float64    // their difference
	Low, High float64    // interval by permutation; NaN with too few permutations for its level, or with an edge in too few
	P, Q      float64    // by permutation
	Estimates *Estimates // nil without inference
}

// Compare permutes and tests what is left of it; done holds permutations that were made
// before, of the run that Identity names; it is replicate.ErrOtherRun where they are of other
// numbers of columns.
func Compare(ctx context.Context, p Problem, c Config, run replicate.Config, done *replicate.Done[Permutation]) (*Result, error) {
	c, err := c.Resolve()
	if err != nil {
		return nil, err
	}
	var weights [2][]float64
	for i, r := range p.Networks {
		if weights[i], err = replicate.Weights(r.Network.Network); err != nil {
			return nil, err
		}
	}
	pool, err := data.Stack(p.Tables[0], p.Tables[1])
	if err != nil {
		return nil, err
	}
	made, err := replicate.Run(ctx, c.Permutations, run, done, func(ctx context.Context, k int) (Permutation, error) {
		return p.permute(ctx, pool, c.Seed, k)
	})
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		if m.Failure == "" && len(m.Differences) != len(weights[0]) {
			return nil, replicate.ErrOtherRun
		}
	}
	r := &Result{Config: c, Gaps: mcar.Shares(p.Tables[0], p.Tables[1])}
	if err := r.test(p.Tables[0].Names, weights, made); err != nil {
		return nil, err
	}
	r.estimates(p.Networks)
	r.Warnings = append(r.gapWarnings(), r.Warnings...)
	return r, nil
}

// Identity names a run: tables, settings of both networks, and of the comparison all but
// the number of permutations, so that a run can go on to more.
func (p Problem) Identity(c Config) (string, error) {
	c, err := c.Resolve()
	if err != nil {
		return "", err
	}
	c.Permutations = 0
	settings := []any{c}
	for i, r := range p.Networks {
		var law bytes.Buffer
		if m := r.Spec.Missingness; m != nil {
			if err := m.Write(&law, p.Tables[i].Names); err != nil {
				return "", err
			}
		}
		settings = append(settings, r.Spec, law.String())
	}
	return replicate.Identity(settings, p.Tables[:]...)
}

// gapWarnings say loudly where groups differ in which cells are missing.
func (r *Result) gapWarnings() []string {
	var columns []string
	for _, s := range r.Gaps {
		if s.Differs() {
			columns = append(columns, s.String())
		}
	}
	if columns == nil {
		return nil
	}
	text := columns[0]
	if n := len(columns) - 1; n > 0 {
		text = fmt.Sprintf("%s, and %d more columns differ", text, n)
	}
	advice := "--inference model or robust compares estimates by their own standard errors"
	if len(r.Pairs) > 0 && r.Pairs[0].Estimates != nil {
		advice = "rely on the comparison of estimates, which does not permute"
	}
	return []string{"WARNING: the two groups differ in which cells are missing: " + text +
		". Permuted rows take their gaps along: the p values by permutation then test whether rows and gaps have the same distribution in both groups, not whether the networks are equal: " + advice}
}
