// Package bounded infers the partial correlations of a Gaussian network on a domain with
// bounds, from tables with gaps: by the root of the complete-data equation of truncated
// score matching with all pairs free, and the variance of the rows' parts in it
// (docs/theory/truncated.md#eq-completed-errors).
package bounded

import (
	"context"
	"fmt"

	"missingscore/data/domain"
	"missingscore/internal/setting"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
)

const instead = "take --inference bootstrap=N"

// Check refuses, as an error of the setting inference, an estimator whose networks do not
// rest on a normal distribution's own conditional or on complete rows, and a support without
// bounds.
func Check(kind string, e estimator.Estimator, s *domain.Domain) error {
	switch {
	case !s.Bounded():
		return setting.Errorf("inference", kind, "here it is for data with bounds")
	case !e.Source.Normal && !e.NeedsCompleteRows():
		return setting.Errorf("inference", kind, "on a domain it is for the methods em-exact, exact and full, and not for %s: %s", e.Name, instead)
	}
	return nil
}

// Infer is for a network on a domain; see Step.
func Infer(ctx context.Context, p inference.Problem) (*inference.Result, error) {
	n := p.Path
	e, why, err := Step(ctx, Problem{Table: n.Table, Domain: n.Domain, Weight: n.Weight, Start: n.Model(),
		Seed: n.Engine.Config.Seed, Workers: n.Engine.Config.Workers})
	if err != nil {
		return nil, err
	}
	r := &inference.Result{Rests: "the complete-data equation without a penalty, errors by the rows; cells missing at random"}
	if n.Table.Missing() == 0 {
		r.Rests = "the minimum without a penalty, errors by the rows"
	}
	switch {
	case e == nil:
		r.Warnings = append(r.Warnings, fmt.Sprintf("no intervals: %s. Leave columns out, or %s", why, instead))
		e = &Estimate{}
	case !e.Free:
		r.Warnings = append(r.Warnings, "intervals are by one step from the network, for without a penalty the precision of all pairs is not positive definite: those of strong edges may be too near 0")
	}
	r.Pairs, r.Warnings = inference.Pairs(n.Table.PairCounts(), e.Partial, e.SE, p.Config.Level), append(r.Warnings, inference.Beyond(e.Partial)...)
	return r, nil
}
