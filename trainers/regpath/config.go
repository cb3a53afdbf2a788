// Package regpath estimates Gaussian networks: the path of λ, the choice of λ, and the fit at the
// chosen λ.
//
// Files from the bottom up: selection, penalty, config (settings); point, lambda, covariates,
// problem (the network being fitted); fixed, spectral, turns, matrix (schedules), pilot; path (the
// walk); refit, domain, resample, stability, choose (the choice); estimate (all of it), verdict.
package regpath

import (
	"errors"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Config has the settings of a path and of the fit after it. Zero values mean the defaults named
// here; λ are per column (the loss is divided by d, so one range of λ serves tables of any width).
//
// Schedule "fixed" is the paper's: proximal gradient steps, InitialIter and then IterPerLambda at
// every λ. "accelerated" is for gradients without noise, and their default: at every λ at least one
// spectral step, until P stops changing. "em" is for losses with an expectation step, and their
// default: turns of that and a minimisation. InitialIter and IterPerLambda are of the fixed
// schedule, MaxIter and StopTol of the others, and refused with it.
type Config struct {
	Schedule      string  `json:"schedule"`        // "accelerated", "em", "fixed" or "moments"
	Iterations    int     `json:"iterations"`      // sets IterPerLambda or MaxIter, whichever the schedule has, and RefineIter if larger
	Penalty       Penalty `json:"penalty"`         // orders pairs
	LambdaMax     float64 `json:"lambda_max"`      // empties the network; from the data, see LambdaMax
	LambdaMin     float64 `json:"lambda_min"`      // makes it dense; LambdaMax/200, the paper's ratio; adaptive /1000, ridge /100
	Lambdas       int     `json:"lambdas"`         // their number, spaced evenly on a log scale; 100
	InitialIter   int     `json:"initial_iter"`    // fixed: iterations at LambdaMax; 200
	IterPerLambda int     `json:"iter_per_lambda"` // fixed: iterations at each λ; 10
	MaxIter       int     `json:"max_iter"`        // accelerated, em: iterations at each λ, at most; 300, em: 20. Where they do not suffice the path goes on, but that λ is not chosen
	StopTol       float64 `json:"stop_tol"`        // accelerated, em: a λ is done when 50 proximal gradient steps, or turns, would move every element by less; 0.015. With most cells missing, less is slower and finds edges worse
	RefineIter    int     `json:"refine_iter"`     // iterations at the chosen λ, at most; 2000
	Rate          float64 `json:"rate"`            // a proximal gradient step's size per column; 0.015, less for strongly dependent columns
	Whole         bool    `json:"whole,omitempty"` // the path goes on to the smallest λ, even where the choice needs less of it
	Threshold     float64 `json:"threshold"`       // |P_jk| above it is an edge, columns standardised; 0.002
	Floor         float64 `json:"floor"`           // the smallest eigenvalue that P may have; 0.001

	Covariates []string `json:"covariates,omitempty"` // columns that are held constant and are no nodes; Accelerated, EM, Moments, with the penalty l1

	Select    Selection `json:"select"`    // chooses λ; EBIC
	Tolerance float64   `json:"tolerance"` // of the refinement at the chosen λ, columns standardised; 0.003
	PathOnly  bool      `json:"path_only"` // no refinement: the result is the path's point at the chosen λ
	Refit     *bool     `json:"refit"`     // the result is the network of the chosen λ without a penalty; nil: where EBIC chose by such refits
}

// Schedules: Accelerated is for gradients without noise, EM for losses with an expectation step,
// Fixed the paper's, Moments for losses that know the table by one matrix.
const (
	Accelerated = "accelerated"
	EM          = "em"
	Fixed       = "fixed"
	Moments     = "moments"
)

// ErrLambdas says that there is no path between two λ.
var ErrLambdas = errors.New("the largest λ must be at least the smallest, and both positive")

// Resolve fills zero values for a problem and checks the rest. The accelerated schedule's default
// batch is larger: less work is repeated.
func (c Config) Resolve(p engine.Problem, steps engine.Config) (Config, engine.Config, error) {
	_, method, err := steps.Resolve(p)
	if err != nil {
		return c, steps, err
	}
	if p.Table.D < 2 || len(p.Table.Blocks) == 1 {
		return c, steps, errors.New("a network needs at least two columns")
	}
	if c, err = c.resolveSchedule(method); err != nil {
		return c, steps, err
	}
	if err := c.checkCovariates(p); err != nil {
		return c, steps, err
	}
	if c.Select, err = c.Select.Resolve(p.Table.N); err != nil {
		return c, steps, err
	}
	if err := c.checkChoice(method); err != nil {
		return c, steps, err
	}
	if c.Penalty.Kind == "" {
		c.Penalty.Kind = c.usual(p, method)
	}
	if c, err = c.resolvePenalty(p, method); err != nil {
		return c, steps, err
	}
	if err := c.resolveRefit(p.Missingness != nil); err != nil {
		return c, steps, err
	}
	if c.Schedule != Fixed {
		setting.Default(&steps.Batch, 250)
	}
	if c.Schedule != Moments {
		setting.Default(&c.Rate, min(0.015, stableRate(p)/max(1, p.Weight.Cap)))
	}
	setting.Default(&c.Threshold, 0.002)
	setting.Default(&c.Floor, 1e-3)
	setting.Default(&c.Lambdas, 100)
	setting.Default(&c.Tolerance, 0.003)
	return c, steps, c.checkNumbers()
}

// Check refuses settings that fit no table with an estimator; zero values are defaults to come.
func (c Config) Check(e estimator.Estimator) error {
	if _, err := c.resolveSchedule(e); err != nil {
		return err
	}
	if err := c.checkChoice(e); err != nil {
		return err
	}
	return c.checkNumbers()
}

// checkChoice refuses a wrong penalty, and cross-validation by the loss of an equation: rows held
// out are then filled in by the model that they judge.
func (c Config) checkChoice(method estimator.Estimator) error {
	if c.Select.Kind == byCV && !method.Minimises() && !method.Loss.Needs().Moments {
		return setting.Errorf("select", byCV, "method %s solves an equation, its loss on rows held out says nothing; take ebic or stars", method.Name)
	}
	return c.Penalty.check()
}

func (c Config) checkNumbers() error {
	return setting.NotNegative(
		setting.Field{Name: "lambda_max", Value: c.LambdaMax}, setting.Field{Name: "lambda_min", Value: c.LambdaMin},
		setting.Field{Name: "lambdas", Value: float64(c.Lambdas)}, setting.Field{Name: "rate", Value: c.Rate},
		setting.Field{Name: "threshold", Value: c.Threshold}, setting.Field{Name: "floor", Value: c.Floor},
		setting.Field{Name: "tolerance", Value: c.Tolerance})
}

// resolveRefit sets whether the chosen network is fitted without the penalty; law: cells are
// missing by a known law.
func (c *Config) resolveRefit(law bool) error {
	kind, refit := c.Select.Kind, false
	switch own := c.Select.by().ownEdges; {
	case own && c.PathOnly:
		return setting.Errorf("select", kind, "its edges are of no point of the path, and the path's points are all that is asked for")
	case own && c.Refit != nil && !*c.Refit:
		return setting.Errorf("select", kind, "its edges are of no point of the path, so that they have no sizes but those of a refit; leave Spec.Network.Refit=false out")
	case c.Refit != nil:
		refit = *c.Refit
	case own:
		refit = true
	case kind == byEBIC:
		refit = !law
	}
	c.Refit = &refit
	return nil
}

// resolveSchedule fills in the settings of a schedule, and refuses those of another.
func (c Config) resolveSchedule(method estimator.Estimator) (Config, error) {
	if c.Schedule == "" {
		switch {
		case method.OfMatrix():
			c.Schedule = Moments
		case method.Loss.Needs().Moments:
			c.Schedule = EM
		case method.Deterministic() && method.Minimises():
			c.Schedule = Accelerated
		default:
			c.Schedule = Fixed
		}
	}
	if err := setting.OneOf("schedule", c.Schedule, Accelerated, EM, Fixed, Moments); err != nil {
		return c, err
	}
	if err := setting.NotNegative(setting.Field{Name: "iterations", Value: float64(c.Iterations)}); err != nil {
		return c, err
	}
	setting.Default(&c.RefineIter, max(refineIter, c.Iterations))
	if err := c.suits(method); err != nil {
		return c, err
	}
	if c.Schedule == Fixed {
		if c.MaxIter != 0 || c.StopTol != 0 {
			return c, setting.Errorf("schedule", Fixed, "max_iter %d, stop_tol %v are of the other schedules, this one has initial_iter and iter_per_lambda", c.MaxIter, c.StopTol)
		}
		setting.Default(&c.InitialIter, 200)
		setting.Default(&c.IterPerLambda, c.Iterations)
		setting.Default(&c.IterPerLambda, 10)
		return c, setting.Positive(setting.Field{Name: "initial_iter", Value: float64(c.InitialIter)}, setting.Field{Name: "iter_per_lambda", Value: float64(c.IterPerLambda)},
			setting.Field{Name: "refine_iter", Value: float64(c.RefineIter)})
	}
	if c.InitialIter != 0 || c.IterPerLambda != 0 {
		return c, setting.Errorf("schedule", c.Schedule, "initial_iter %d, iter_per_lambda %d are of the fixed schedule, this one has max_iter", c.InitialIter, c.IterPerLambda)
	}
	setting.Default(&c.MaxIter, c.Iterations)
	switch c.Schedule {
	case EM:
		setting.Default(&c.MaxIter, 20)
	case Moments:
		setting.Default(&c.MaxIter, 2000)
		setting.Default(&c.StopTol, 1e-6)
	}
	setting.Default(&c.MaxIter, 300)
	setting.Default(&c.StopTol, 0.015)
	return c, setting.Positive(setting.Field{Name: "max_iter", Value: float64(c.MaxIter)}, setting.Field{Name: "stop_tol", Value: c.StopTol},
		setting.Field{Name: "refine_iter", Value: float64(c.RefineIter)})
}

// suits refuses a schedule that is not for a method.
func (c Config) suits(method estimator.Estimator) error {
	switch {
	case c.Schedule == Moments && !method.OfMatrix():
		return setting.Errorf("schedule", Moments, "method %s goes by the table's rows, take another schedule", method.Name)
	case c.Schedule != Moments && method.OfMatrix():
		return setting.Errorf("schedule", c.Schedule, "method %s goes by moments of pairs of columns, take moments", method.Name)
	case c.Schedule == EM && !method.Loss.Needs().Moments:
		return setting.Errorf("schedule", EM, "the loss of method %s has no expectation step, take another schedule", method.Name)
	case c.Schedule == Accelerated && !method.Deterministic():
		return setting.Errorf("schedule", Accelerated, "the gradients of method %s are noisy, take fixed", method.Name)
	case c.Schedule == Accelerated && !method.Minimises():
		return setting.Errorf("schedule", Accelerated, "method %s solves an equation that is the gradient of no function, take fixed", method.Name)
	}
	return nil
}

// checkCovariates refuses unknown columns, and settings that have no place for covariates.
func (c Config) checkCovariates(p engine.Problem) error {
	if len(c.Covariates) == 0 {
		return nil
	}
	all := newCovariates(p.Table, nil).names
	for i, name := range c.Covariates {
		if k := slices.IndexFunc(p.Table.LeftOut, func(c data.Column) bool { return c.Name == name }); k >= 0 {
			return setting.Errorf("covariates", name, "the column cannot be used: %s", p.Table.LeftOut[k].LeftOut)
		}
		if !slices.Contains(all, name) {
			return setting.Errorf("covariates", name, "there is no such column%s; columns are %s", spelling.DidYouMean(name, all), strings.Join(all, ", "))
		}
		if slices.Contains(c.Covariates[:i], name) {
			return setting.Errorf("covariates", name, "it is named twice")
		}
	}
	refusal := ""
	switch {
	case len(all)-len(c.Covariates) < 2:
		refusal = "a network needs two columns at least that are none of them"
	case p.Domain.Bounded() || p.Missingness != nil:
		refusal = "they are for columns without bounds whose cells are missing at random: leave the bounds or the law of missing cells out, or take the covariates as columns of the network"
	case c.Penalty != (Penalty{}) && c.Penalty.Kind != l1:
		refusal = "their pairs are without a penalty, which " + c.Penalty.Kind + " has no place for: take Spec.Network.Penalty l1"
	case c.Schedule == Fixed:
		refusal = "their pairs are without a penalty, which steps along draws have no place for: take Spec.Steps.Method em-exact"
	case c.Select.Kind == byStability:
		refusal = "the bounds of Spec.Network.Select stability are for networks whose pairs have all to be chosen: take ebic or fdr"
	}
	if refusal != "" {
		return setting.Errorf("covariates", strings.Join(c.Covariates, ","), "%s", refusal)
	}
	return nil
}

// grid is the path's λ, from the largest down.
func (c Config) grid() []float64 {
	if c.Lambdas == 1 {
		return []float64{c.LambdaMax}
	}
	return floats.LogSpan(make([]float64, c.Lambdas), c.LambdaMax, c.LambdaMin)
}
