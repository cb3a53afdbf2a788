// Package inference says how far the partial correlations of a network may be from the
// truth: for every pair of columns an estimate, a standard error, a confidence interval,
// a p value and a q value, or what resamples tell. Its sub-packages are the kinds, which
// register themselves in Kinds. docs/theory/inference.md has the formulas.
package inference

import (
	"context"
	"math"
	"slices"

	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/trainers/estimator"
	"missingscore/trainers/regpath"
)

// Kind is a way to infer.
type Kind struct {
	Note      string // what it does, for a list
	Resamples bool   // its Config has a number of resamples
	NoLaw     bool   // it is not for cells missing by a known law

	// Check refuses an estimator or support that it cannot be used with, by a
	// *setting.Error of the field "inference".
	Check func(e estimator.Estimator, s *domain.Domain) error
	// Fits makes the estimates that Infer rests on into p.State, of a shard its share; nil
	// where there are none.
	Fits func(ctx context.Context, p Problem) error
	// Infer tells of every pair what is known of it.
	Infer func(ctx context.Context, p Problem) (*Result, error)
}

func (k Kind) form(name string) string {
	if k.Resamples {
		return name + "=N"
	}
	return name
}

// Kinds are the ways to infer, by name.
var Kinds = map[string]Kind{}

// Problem is a network whose uncertainty is asked for.
type Problem struct {
	Config Config       // with every default filled in
	Path   *regpath.Run // finished: table (columns standardised), estimator, points and result

	// GapTests are those of whether the gaps of Path's table depend on other columns, for a
	// caller that has them or asks twice; nil: they are made.
	GapTests func() []mcar.Column

	// Of kinds that resample:
	Again Again        // the estimate on other rows
	State *State       // what is finished of these; it goes on from there
	Save  func() error // called when State is worth saving
	Shard Shard        // which of them to make
}

// Depends says whether the table's gaps depend on other columns.
func (p Problem) Depends() bool {
	tests := p.GapTests
	if tests == nil {
		tests = func() []mcar.Column { return mcar.TestBy(p.Path.Engine.Config.Workers, p.Path.Table) }
	}
	return slices.ContainsFunc(tests(), mcar.Column.Depends)
}

// Result is what is known of the partial correlations.
type Result struct {
	Pairs    []network.Uncertainty // pairs j < k in column order
	Rests    string                // a sentence: what the numbers rest on; empty if there are none
	Warnings []string
	Doubt    string // why the result is not to be relied on; "" where it is

	Edges, Strengths *Differences // of the bootstrap with two networks or more; of edges those with a sign
}

// Differences says which numbers of a network differ from each other.
type Differences struct {
	Of        []int     // places of the numbers, the largest in size first: of edges among all pairs j < k, of strengths among the nodes
	All       int       // how many numbers there are, of which Of has the largest
	Value     []float64 // of each of Of
	Low, High []float64 // interval of Value[i] − Value[j], i < j packed row by row: (0,1), (0,2), …
}

// Differ says whether the interval of the difference of numbers i and j is without 0, in either order.
func (d *Differences) Differ(i, j int) bool {
	i, j = min(i, j), max(i, j)
	at := i*(2*len(d.Of)-i-1)/2 + j - i - 1
	return d.Low[at] > 0 || d.High[at] < 0
}

// Infer tells what is known of a network's pairs, q values included. Of a shard it makes the
// estimates, and tells nothing.
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

// known says whether a pair has an interval or a share of resamples.
func known(u network.Uncertainty) bool { return !math.IsNaN(u.Low) || !math.IsNaN(u.Inclusion) }
