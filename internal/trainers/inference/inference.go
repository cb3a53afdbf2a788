// Package inference computes estimates, standard errors, intervals, p and q values of a network's
// partial correlations (docs/theory/inference.md). Its sub-packages register themselves in Kinds.
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

type Kind struct {
	Note      string // description, for a list
	Resamples bool   // its Config has a number of resamples
	NoLaw     bool   // it does not support cells missing by a given mechanism

	// Check refuses unsupported estimators and supports with a *setting.Error of "inference".
	Check func(e estimator.Estimator, s *domain.Domain) error
	// Infer keeps repeated estimates in p.State; for a shard it makes its part and returns nil.
	Infer func(ctx context.Context, p Problem) (*Result, error)
}

func (k Kind) form(name string) string {
	if k.Resamples {
		return name + "=N"
	}
	return name
}

var Kinds = map[string]Kind{}

type Problem struct {
	Config Config       // with defaults
	Path   *regpath.Run // finished: table (columns standardised), estimator, points and result

	// GapTests tests whether missing cells depend on other columns.
	GapTests func() []mcar.Column

	// For kinds that resample:
	Again Again        // the estimate on other rows
	State *State       // finished repetitions, which are not run again
	Save  func() error // called after each repetition
	Shard Shard        // repetitions to run
}

func (p Problem) Depends() bool {
	return slices.ContainsFunc(p.GapTests(), mcar.Column.Depends)
}

// Result is the uncertainty of the partial correlations.
type Result struct {
	Pairs    []network.Uncertainty // pairs j < k in column order
	Rests    string                // a sentence: method and assumptions; empty if there are no numbers
	Warnings []string
	Doubt    string // why the result is not to be relied on; "" where it is

	Edges, Strengths *Differences // of a bootstrap with two networks or more; Edges only for edges with a sign
}

type Differences struct {
	Of        []int     // indices of the numbers, largest absolute value first: edges among all pairs j < k, or nodes
	All       int       // number of candidates, of which Of has the largest
	Value     []float64 // of each of Of
	Low, High []float64 // interval of Value[i] − Value[j], i < j packed row by row: (0,1), (0,2), …
}

func (d *Differences) Differ(i, j int) bool {
	i, j = min(i, j), max(i, j)
	at := i*(2*len(d.Of)-i-1)/2 + j - i - 1
	return d.Low[at] > 0 || d.High[at] < 0
}

// Infer returns the uncertainty of all pairs with q values; nil for a shard.
func Infer(ctx context.Context, p Problem) (*Result, error) {
	r, err := Kinds[p.Config.Kind].Infer(ctx, p)
	if err != nil || r == nil {
		return nil, err
	}
	var values []float64
	for _, u := range r.Pairs {
		values = append(values, u.P)
	}
	for i, q := range BenjaminiHochberg(values) {
		r.Pairs[i].Q = q
	}
	if !slices.ContainsFunc(r.Pairs, known) {
		r.Rests = ""
	}
	return r, nil
}

func known(u network.Uncertainty) bool { return !math.IsNaN(u.Low) || !math.IsNaN(u.Inclusion) }
