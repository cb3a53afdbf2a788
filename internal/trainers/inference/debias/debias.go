// Package debias infers partial correlations without penalty or selection bias
// (docs/theory/inference.md): maximum likelihood with all pairs free, one Newton step towards it,
// or on a domain the root of the complete-data equation.
package debias

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/mcem"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

const (
	Model  = "model"
	Robust = "robust"
)

func init() {
	for kind, note := range map[string]string{
		Model:  "unpenalised estimates; standard errors for normal rows with cells missing completely at random",
		Robust: "unpenalised estimates; robust standard errors, also for rows that are not normal and, with em-exact, cells missing at random",
	} {
		inference.Kinds[kind] = inference.Kind{Note: note, NoLaw: true, Infer: infer,
			Check: func(e estimator.Estimator, s *domain.Domain) error { return check(kind, e, s) }}
	}
}

const instead = "take Spec.Inference bootstrap=N"

func check(kind string, e estimator.Estimator, s *domain.Domain) error {
	q, ok := equationOf(e)
	if s.Bounded() {
		ok = e.Source.Normal || e.NeedsCompleteRows()
	}
	switch {
	case s.Bounded() && kind == Model:
		return setting.Errorf("inference", kind, "on a domain model-based errors have no closed form: take Spec.Inference robust, or bootstrap=N")
	case kind == Model && ok && q == Marginal:
		return setting.Errorf("inference", kind, "it supports the methods em-exact and full, not %s: take Spec.Inference robust, or bootstrap=N", e.Name)
	case !ok:
		return setting.Errorf("inference", kind, "it supports the methods em-exact, exact and full, not %s: %s", e.Name, instead)
	}
	return nil
}

func equationOf(e estimator.Estimator) (q Equation, ok bool) {
	complete := e.Loss == losses.GaussianComplete
	marginal := e.Loss == losses.GaussianMarginal
	if complete || e.NeedsCompleteRows() {
		return Likelihood, true
	}
	return Marginal, marginal
}

// noIntervals is a reason for a warning instead of intervals.
type noIntervals string

func (n noIntervals) Error() string { return string(n) }

func infer(ctx context.Context, p inference.Problem) (*inference.Result, error) {
	n, r, by := p.Path, &inference.Result{}, inferEverywhere
	if n.Domain.Bounded() {
		by = inferInside
	}
	e, err := by(ctx, p, r)
	var none noIntervals
	switch {
	case errors.As(err, &none) || errors.Is(err, losses.ErrNotPositiveDefinite):
		e = &Estimate{}
		r.Warnings = append(r.Warnings, fmt.Sprintf("no intervals: %v. Leave columns out, or %s", err, instead))
	case err != nil:
		return nil, err
	}
	r.Pairs = inference.Pairs(regpath.OfNodes(n, n.Table.PairCounts()), regpath.OfNodes(n, e.Partial), regpath.OfNodes(n, e.SE), p.Config.Level)
	return r, nil
}

func inferInside(ctx context.Context, p inference.Problem, r *inference.Result) (*Estimate, error) {
	n := p.Path
	r.Rests = "unpenalised complete-data equation; robust standard errors for cells missing at random"
	if n.Table.Complete() {
		r.Rests = "unpenalised minimum; robust standard errors"
	}
	e, err := StepInside(ctx, mcem.Setting{Table: n.Table, Domain: n.Domain, Weight: n.Weight,
		Seed: n.Engine.Config.Seed, Workers: n.Engine.Config.Workers}, n.Model())
	if err != nil {
		return nil, err
	}
	if n.Table.Complete() {
		r.Warnings = append(r.Warnings, fewRows(n.Table, true, true)...)
	}
	r.Warnings = append(r.Warnings, inference.Beyond(e.Partial)...)
	return e, nil
}

func inferEverywhere(ctx context.Context, p inference.Problem, r *inference.Result) (*Estimate, error) {
	n := p.Path
	equation, _ := equationOf(n.Estimator)
	at, from, err := startOf(ctx, n, equation)
	if err != nil {
		return nil, err
	}
	robust, depends := p.Config.Kind == Robust, p.Depends()
	own := depends && robust && equation == Likelihood
	r.Rests = rests(from, robust, own, depends, n.Table.Complete())
	e, err := Step(Problem{Table: n.Table, Mean: at.Mean(), Precision: at.Precision(), Equation: equation, Robust: robust, Own: own,
		Workers: n.Engine.Config.Workers, Seed: n.Engine.Config.Seed})
	if err != nil {
		return nil, err
	}
	if own && e.Own < 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("cells are not missing completely at random, and the intervals correct for it only in part: with so few rows the observed information has a weight of %.0f %%", 100*e.Own))
	}
	if depends && !own {
		r.Warnings = append(r.Warnings, "cells are not missing completely at random, but the intervals assume it and may be too narrow: take Spec.Steps.Method em-exact with Spec.Inference robust")
	}
	r.Warnings = slices.Concat(r.Warnings, e.tails.warnings(), fewRows(n.Table, robust, false))
	if from == fromPenalised {
		r.Warnings = append(r.Warnings, "intervals start from the penalised network, because the unpenalised likelihood has no maximum: intervals of strong edges may be too near 0")
	}
	r.Warnings = append(r.Warnings, inference.Beyond(e.Partial)...)
	if without := e.forFewRows(at.Precision(), robust && from == fromLikelihood); without > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d pairs have no interval: there are too few rows for the number of neighbours", without, len(e.Partial)))
	}
	return e, nil
}

type origin string

const (
	fromLikelihood origin = "maximum likelihood with all pairs free"
	fromNetwork    origin = "one unpenalised Newton step from the chosen network"
	fromPenalised  origin = "one Newton step from the penalised estimate"
)

// startOf returns maximum likelihood with all pairs free if the table has enough rows
// (docs/theory/inference.md#eq-enough-rows); else the chosen network, unpenalised if that fit
// exists.
func startOf(ctx context.Context, n *regpath.Run, q Equation) (m *model.Gaussian, from origin, err error) {
	if q == Likelihood {
		if m, err = unpenalised(ctx, n); m != nil || err != nil {
			return m, fromLikelihood, err
		}
	}
	m, free, err := n.Unpenalised(ctx)
	if free {
		return m, fromNetwork, err
	}
	return m, fromPenalised, err
}

const mostIterations = 1000

// unpenalised returns nil without enough rows (docs/theory/inference.md#eq-enough-rows), or if the
// optimiser does not converge.
func unpenalised(ctx context.Context, n *regpath.Run) (*model.Gaussian, error) {
	d, steps := n.Table.D, n.Engine.Config
	if together(n.Table) <= float64(parameters(d)) {
		return nil, nil
	}
	m := model.NewGaussian(d, model.CholeskyFactor)
	if m.SetPrecision(n.Model().Precision()) != nil { // P is not positive definite
		return nil, nil
	}
	m.SetMean(n.Model().Mean())
	p := n.Problem
	p.Model, p.Objective = m, losses.Classical
	e, err := engine.New(p, engine.Config{Method: "em-exact", Seed: steps.Seed, Workers: steps.Workers})
	if err != nil {
		return nil, err
	}
	c, err := descent.Config{Iterations: mostIterations}.Resolve(descent.Problem{Estimator: e.Estimator, Model: m, Objective: p.Objective, Rows: p.Table.RowCount()})
	if err != nil {
		return nil, err
	}
	fit := &descent.Fit{Engine: e, Config: c, State: &descent.State{}, Save: func() error { return nil }}
	if err := fit.Run(ctx); engine.Diverged(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if converged, _ := fit.Verdict(); !converged {
		return nil, nil
	}
	return m, nil
}

func together(t *data.Table) float64 {
	sum, counts := 0, t.PairCounts()
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / float64(len(counts))
}

// rests describes the estimate; own: the observed Hessian, valid under MAR; depends: the test
// rejects MCAR.
func rests(from origin, robust, own, depends, complete bool) string {
	errors, gaps := "standard errors for normal rows", " with cells missing completely at random: the test found no evidence against it"
	if robust {
		errors = "robust standard errors"
	}
	switch {
	case complete:
		gaps = ""
	case own:
		gaps = " for cells missing at random"
	case depends:
		gaps = " with cells missing completely at random: the test found evidence against it"
	}
	return fmt.Sprintf("%s; %s%s", from, errors, gaps)
}

// enough returns the mean rows per pair for nominal coverage (benchmarks/coverage).
func enough(d int, robust bool) int {
	if robust {
		return min(15*d, max(200, 5*d))
	}
	return min(10*d, max(200, 5*d))
}

// Enough rows for robust intervals of nominal coverage.
func Enough(t *data.Table) bool { return together(t) >= float64(enough(t.D, true)) }

func fewRows(t *data.Table, robust, bounded bool) []string {
	mean, least, other := together(t), enough(t.D, robust), ""
	if mean >= float64(least) {
		return nil
	}
	if model := enough(t.D, false); model < least && !bounded {
		other = fmt.Sprintf("; with Spec.Inference model and normal rows %d", model)
	}
	return []string{fmt.Sprintf("intervals and p values need more rows: pairs of columns are observed together in %.0f rows on average, and %d are needed for nominal coverage%s", mean, least, other)}
}
