// Package debias infers the partial correlations of a Gaussian network from maximum likelihood's
// estimate with all pairs free or, with too few rows for that and by the marginal loss, from one
// Newton step towards the unpenalised estimate: estimates that a penalty or the choice of edges has not biased (a step: to first
// order), with standard errors (docs/theory/inference.md).
package debias

import (
	"context"
	"errors"
	"fmt"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/bounded"
	"missingscore/trainers/regpath"
)

// Names of the kinds.
const (
	Model  = "model"
	Robust = "robust"
)

func init() {
	inference.Kinds[Model] = inference.Kind{
		Note:  "estimates without a penalty, errors as normal rows have them whose cells are missing completely at random",
		NoLaw: true,
		Check: func(e estimator.Estimator, s *domain.Domain) error { return check(Model, e, s) },
		Infer: infer,
	}
	inference.Kinds[Robust] = inference.Kind{
		Note:  "estimates without a penalty, errors by the rows: also for rows that are not normal and, with em-exact, cells missing at random",
		NoLaw: true,
		Check: func(e estimator.Estimator, s *domain.Domain) error { return check(Robust, e, s) },
		Infer: infer,
	}
}

const instead = "take --inference bootstrap=N"

// check refuses what has no second derivatives in closed form.
func check(kind string, e estimator.Estimator, s *domain.Domain) error {
	switch _, ok := equationOf(e, s); {
	case s.Bounded() && kind == Model:
		return setting.Errorf("inference", kind, "on a domain errors by the model have no closed form: take --inference robust, or bootstrap=N")
	case !ok && s.Bounded():
		return bounded.Check(kind, e, s)
	case !ok:
		return setting.Errorf("inference", kind, "it is for the methods em-exact, exact and full, which have second derivatives in closed form, and not for %s: %s", e.Name, instead)
	}
	return nil
}

// equationOf is the equation of an estimator on a support.
func equationOf(e estimator.Estimator, s *domain.Domain) (q Equation, ok bool) {
	_, complete := e.Loss.(losses.GaussianComplete)
	_, marginal := e.Loss.(losses.GaussianMarginal)
	switch {
	case s.Bounded():
		return Truncated, e.NeedsCompleteRows()
	case complete || e.NeedsCompleteRows():
		return Likelihood, true
	}
	return Marginal, marginal
}

// infer makes the estimates of a finished path.
func infer(ctx context.Context, p inference.Problem) (*inference.Result, error) {
	n := p.Path
	equation, ok := equationOf(n.Estimator, n.Domain)
	if !ok && n.Domain.Bounded() { // rows have to be completed
		return bounded.Infer(ctx, p)
	}
	at, from, err := startOf(ctx, n, equation)
	if err != nil {
		return nil, err
	}
	robust := p.Config.Kind == Robust
	depends := equation != Truncated && p.Depends()
	own := depends && robust && equation == Likelihood
	r := &inference.Result{Rests: rests(from, robust, own, n.Table.Complete())}
	e, err := Step(Problem{Table: n.Table, Mean: at.Mean(), Precision: at.Precision(), Equation: equation, Robust: robust, Own: own,
		Domain: n.Domain, Weight: n.Weight, Workers: n.Engine.Config.Workers, Seed: n.Engine.Config.Seed})
	switch {
	case errors.Is(err, ErrSingular) || errors.Is(err, ErrTooManyColumns) || errors.Is(err, losses.ErrNotPositiveDefinite):
		r.Warnings = append(r.Warnings, fmt.Sprintf("no intervals: %v. Leave columns out, or %s", err, instead))
		e = nil
	case err != nil:
		return nil, err
	default:
		if own && e.Own < 1 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("cells are not missing completely at random, and the intervals take that into account in part only: the observed information of so few rows is too uncertain to be taken alone, and counts for %.0f %% beside the expected one", 100*e.Own))
		}
		if depends && !own {
			r.Warnings = append(r.Warnings, "cells are not missing completely at random, and the intervals are for such cells: those of edges may be too narrow; take --method em-exact with --inference robust")
		}
		if !robust {
			tails, err := tailsOf(n.Table, at.Mean(), at.Precision(), n.Engine.Config.Workers)
			if err != nil {
				return nil, err
			}
			r.Warnings = append(r.Warnings, tails.warnings()...)
		}
		r.Warnings = append(r.Warnings, warnings(n.Table, from, robust, e)...)
	}
	if e == nil {
		e = &Estimate{}
	} else if equation != Truncated { // whose errors are for few rows already
		if without := e.forFewRows(at.Precision(), robust && from == fromLikelihood); without > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d pairs have no interval: the rows tell too little of them for so many neighbours", without, len(e.Partial)))
		}
	}
	r.Pairs = inference.Pairs(regpath.OfNodes(n, n.Table.PairCounts()), regpath.OfNodes(n, e.Partial), regpath.OfNodes(n, e.SE), p.Config.Level)
	return r, nil
}

// origin is where the step starts that estimates are from.
type origin string

const (
	fromLikelihood origin = "maximum likelihood with all pairs free"
	fromBounds     origin = "the minimum without a penalty" // the loss is quadratic
	fromNetwork    origin = "one Newton step from the chosen network without a penalty"
	fromPenalised  origin = "one Newton step from the penalised estimate"
)

// startOf is where a step starts: the likelihood's at its maximum or, without one to rely on, at the
// chosen network, if possible without its penalty. The marginal loss's is there always, for its
// minimum with all pairs free is less certain than a step to it (docs/theory/inference.md#eq-enough-rows).
func startOf(ctx context.Context, n *regpath.Run, q Equation) (m *model.Gaussian, from origin, err error) {
	switch q {
	case Truncated: // the result does not depend on the start
		return n.Model(), fromBounds, nil
	case Likelihood:
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

// rests says what the numbers rest on.
func rests(from origin, robust, own, complete bool) string {
	errors, gaps := "as normal rows have them", "cells missing completely at random"
	if robust {
		errors = "by the rows"
	}
	switch {
	case complete:
		return fmt.Sprintf("%s, errors %s", from, errors)
	case own:
		gaps = "normal rows, cells missing at random"
	}
	return fmt.Sprintf("%s, errors %s; %s", from, errors, gaps)
}

// How many rows that have both columns of a pair, in the mean, a table needs for each of its
// columns, for intervals to cover as they say (benchmarks/coverage): by the model, and by the rows,
// whose fourth moments are less certain.
const (
	rowsForAColumn       = 10
	robustRowsForAColumn = 15
)

// warnings say where intervals are not to be trusted.
func warnings(t *data.Table, from origin, robust bool, e *Estimate) (out []string) {
	least, other := rowsForAColumn, ""
	if robust {
		least, other = robustRowsForAColumn, fmt.Sprintf(" (%d by --inference model, if rows are normal)", rowsForAColumn)
	}
	if mean := together(t); mean < float64(least*t.D) {
		out = append(out, fmt.Sprintf("intervals and p values are for tables with more rows: a pair of columns is together in %.0f rows in the mean, and %d times the %d columns are needed for intervals that cover as often as they say%s", mean, least, t.D, other))
	}
	if from == fromPenalised {
		out = append(out, "intervals start from the penalised network, for without a penalty its likelihood has no maximum: those of strong edges may be too near 0")
	}
	return append(out, inference.Beyond(e.Partial)...)
}
