// Package inference computes the uncertainty of a network's partial correlations: for every pair of
// columns an estimate, a standard error, a confidence interval, a p value and a q value, or
// resampling statistics. Its sub-packages register themselves in Kinds. Formulas:
// docs/theory/inference.md.
package inference

import (
	"context"
	"math"
	"slices"

	"missingscore/data/domain"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers/estimator"
)

// Kind is a method of inference.
type Kind struct {
	Note      string // description, for a list
	Resamples bool   // its Config has a number of resamples
	NoLaw     bool   // it does not support cells missing by a given mechanism

	// Check refuses unsupported estimators and supports with a *setting.Error of the field
	// "inference".
	Check func(e estimator.Estimator, s *domain.Domain) error
	// Fits runs the estimates that Infer needs into p.State, or a shard's part of them; nil if
	// there are none.
	Fits func(ctx context.Context, p Problem) error
	// Infer returns the uncertainty of every pair.
	Infer func(ctx context.Context, p Problem) (*Result, error)
}

func (k Kind) form(name string) string {
	if k.Resamples {
		return name + "=N"
	}
	return name
}

// Kinds are the methods of inference by name.
var Kinds = map[string]Kind{}

// Problem is a network to infer.
type Problem struct {
	Config Config       // with defaults
	Path   *regpath.Run // finished: table (columns standardised), estimator, points and result

	// GapTests returns the tests of whether missing cells depend on other columns; nil: Problem
	// computes them.
	GapTests func() []mcar.Column

	// For kinds that resample:
	Again Again        // the estimate on other rows
	State *State       // finished repetitions, which are not run again
	Save  func() error // called after each repetition
	Shard Shard        // repetitions to run
}

// Depends reports whether missing cells depend on other columns.
func (p Problem) Depends() bool {
	tests := p.GapTests
	if tests == nil {
		tests = func() []mcar.Column { return mcar.TestBy(p.Path.Engine.Config.Workers, p.Path.Table) }
	}
	return slices.ContainsFunc(tests(), mcar.Column.Depends)
}

// Result is the uncertainty of the partial correlations.
type Result struct {
	Pairs    []network.Uncertainty // pairs j < k in column order
	Rests    string                // a sentence: method and assumptions; empty if there are no numbers
	Warnings []string
	Doubt    string // why the result is not to be relied on; "" where it is

	Edges, Strengths *Differences // of a bootstrap with two networks or more; Edges only for edges with a sign
}

// Differences holds intervals of the differences between numbers of a network.
type Differences struct {
	Of        []int     // indices of the numbers, largest absolute value first: edges among all pairs j < k, or nodes
	All       int       // number of candidates, of which Of has the largest
	Value     []float64 // of each of Of
	Low, High []float64 // interval of Value[i] − Value[j], i < j packed row by row: (0,1), (0,2), …
}

// Differ reports whether the interval of the difference of numbers i and j excludes 0.
func (d *Differences) Differ(i, j int) bool {
	i, j = min(i, j), max(i, j)
	at := i*(2*len(d.Of)-i-1)/2 + j - i - 1
	return d.Low[at] > 0 || d.High[at] < 0
}

// Infer returns the uncertainty of a network's pairs with q values. For a shard it runs the
// estimates and returns nil.
func Infer(ctx context.Context, p Problem) (*Result, error) {
	kind := Kinds[p.Config.Kind]
	if kind.Fits != nil {
		if err := kind.Fits(ctx, p); err != nil || p.Shard.N > 0 {
			return nil, err
		}
	}
	r, err := kind.Infer(ctx, p)
	if err == nil {
		var p []float64
		for _, u := range r.Pairs {
			p = append(p, u.P)
		}
		for i, q := range BenjaminiHochberg(p) {
			r.Pairs[i].Q = q
		}
		if !slices.ContainsFunc(r.Pairs, known) {
			r.Rests = ""
		}
	}
	return r, err
}

// known reports whether a pair has an interval or an inclusion share.
func known(u network.Uncertainty) bool { return !math.IsNaN(u.Low) || !math.IsNaN(u.Inclusion) }
