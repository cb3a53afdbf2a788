// Package regpath estimates Gaussian networks: the path of λ, the choice of λ, and the fit at the
// chosen λ.
package regpath

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers/estimator"
)

// Config configures a path and the fit after it. Zero values mean the defaults below. λ are per
// column: the loss is divided by d.
//
// Schedule "fixed" is the paper's: proximal gradient steps, InitialIter at the first and
// IterPerLambda at every λ. "accelerated" is for gradients without noise: spectral steps until P
// converges; "em" for losses with an expectation step; "moments" for losses of one matrix.
// InitialIter and IterPerLambda are for "fixed", MaxIter and StopTol for the others.
type Config struct {
	Schedule      string  `json:"schedule"`   // "accelerated", "em", "fixed" or "moments"
	Iterations    int     `json:"iterations"` // sets IterPerLambda or MaxIter, and RefineIter if larger
	Penalty       Penalty `json:"penalty"`
	LambdaMax     float64 `json:"lambda_max"`      // default from the data, see lambdaMax
	LambdaMin     float64 `json:"lambda_min"`      // LambdaMax/200, the paper's ratio; adaptive /1000, ridge /100
	Lambdas       int     `json:"lambdas"`         // number of λ, equally spaced on a log scale; 100
	InitialIter   int     `json:"initial_iter"`    // fixed: iterations at LambdaMax; 200
	IterPerLambda int     `json:"iter_per_lambda"` // fixed: iterations at each λ; 10
	MaxIter       int     `json:"max_iter"`        // accelerated, em: maximum at each λ; 300, em: 20. A λ that did not converge is not chosen
	StopTol       float64 `json:"stop_tol"`        // accelerated, em: maximum movement of an element by 50 iterations at convergence; 0.015, em with 100 columns or more: 0.1
	RefineIter    int     `json:"refine_iter"`     // maximum at the chosen λ; 2000
	Rate          float64 `json:"rate"`            // fixed, accelerated: size of a proximal gradient step per column; 0.015, less for strongly dependent columns
	Whole         bool    `json:"whole,omitempty"` // continue to the smallest λ even if the choice does not need it
	Threshold     float64 `json:"threshold"`       // |P_jk| above it is an edge, columns standardised; 0.002
	Floor         float64 `json:"floor"`           // minimum eigenvalue of P; 0.001

	Covariates []string `json:"covariates,omitempty"` // columns that are conditioned on and are no nodes; for accelerated, em and moments with penalty l1

	Select    Selection `json:"select"`    // default EBIC
	Tolerance float64   `json:"tolerance"` // of the refinement at the chosen λ, columns standardised; 0.003
	PathOnly  bool      `json:"path_only"` // no refinement: the result is the path's point
	Refit     *bool     `json:"refit"`     // fit the chosen network without a penalty; nil: if EBIC chose by such refits
}

const (
	Accelerated = "accelerated"
	EM          = "em"
	Fixed       = "fixed"
	Moments     = "moments"
)

var ErrLambdas = errors.New("both λ must be positive and the largest at least the smallest")

// The default batch of the accelerated schedule is larger.
func (c Config) resolve(p engine.Problem, steps engine.Config) (Config, engine.Config, error) {
	_, method, err := steps.Resolve(p)
	if err != nil {
		return c, steps, err
	}
	if p.Table.D < 2 || len(p.Table.Blocks) == 1 {
		return c, steps, errors.New("a network needs at least two columns")
	}
	if p.Table.D >= manyColumns && c.Schedule == "" && method.Loss.Needs().Moments {
		setting.Default(&c.StopTol, manyTol)
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
	if err := c.checkPenalty(p, method); err != nil {
		return c, steps, err
	}
	if c.LambdaMax > 0 && c.LambdaMin > 0 {
		if err := c.checkEnds(); err != nil {
			return c, steps, err
		}
	}
	if err := c.resolveRefit(p.Missingness != nil); err != nil {
		return c, steps, err
	}
	if c.Schedule != Fixed {
		setting.Default(&steps.Batch, 250)
	}
	if c.Schedule == Fixed || c.Schedule == Accelerated {
		setting.Default(&c.Rate, min(0.015, stableRate(p)/max(1, p.Weight.Cap)))
	}
	setting.Default(&c.Threshold, 0.002)
	setting.Default(&c.Floor, 1e-3)
	setting.Default(&c.Lambdas, 100)
	setting.Default(&c.Tolerance, 0.003)
	return c, steps, c.checkNumbers()
}

// Check returns an error for settings that are invalid for every table with this estimator.
func (c Config) Check(e estimator.Estimator) error {
	if _, err := c.resolveSchedule(e); err != nil {
		return err
	}
	if err := c.checkChoice(e); err != nil {
		return err
	}
	return c.checkNumbers()
}

// Held-out rows of estimators without a loss would be completed by the fitted model.
func (c Config) checkChoice(method estimator.Estimator) error {
	if c.Select.Kind == byCV && !method.Minimises() && !method.Loss.Needs().Moments {
		return setting.Errorf("select", byCV, "method %s solves an equation and has no held-out loss; use ebic or stars", method.Name)
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

func (c Config) checkEnds() error {
	if !(c.LambdaMin > 0) || c.LambdaMax < c.LambdaMin || math.IsInf(c.LambdaMax, 0) {
		return fmt.Errorf("λ from %.4g to %.4g: %w", c.LambdaMax, c.LambdaMin, ErrLambdas)
	}
	return nil
}

// law reports a missingness mechanism.
func (c *Config) resolveRefit(law bool) error {
	kind, refit := c.Select.Kind, false
	switch own := c.Select.by().ownEdges; {
	case own && c.PathOnly:
		return setting.Errorf("select", kind, "its edges belong to no point of the path, but only the path is wanted; use another selection")
	case own && c.Refit != nil && !*c.Refit:
		return setting.Errorf("select", kind, "the sizes of its edges need a refit; leave Spec.Network.Refit=false out")
	case c.Refit != nil:
		refit = *c.Refit
	case own, c.Penalty.Kind == ridge: // a threshold gives no estimates
		refit = true
	case kind == byEBIC:
		refit = !law
	}
	c.Refit = &refit
	return nil
}

func (c Config) resolveSchedule(method estimator.Estimator) (Config, error) {
	if c.Schedule == "" {
		switch {
		case method.OfMatrix():
			c.Schedule = Moments
		case method.Loss.Needs().Moments:
			c.Schedule = EM
		case !method.Draws() && method.Minimises():
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
	number := func(name string, value int) setting.Field { return setting.Field{Name: name, Value: float64(value)} }
	most, tolerance := 300, 0.015
	switch c.Schedule {
	case Fixed:
		setting.Default(&c.InitialIter, 200)
		setting.Default(&c.IterPerLambda, cmp.Or(c.Iterations, 10))
		return c, setting.Positive(number("initial_iter", c.InitialIter), number("iter_per_lambda", c.IterPerLambda), number("refine_iter", c.RefineIter))
	case EM:
		most = 20
	case Moments:
		most, tolerance = 2000, 1e-6
	}
	setting.Default(&c.MaxIter, cmp.Or(c.Iterations, most))
	setting.Default(&c.StopTol, tolerance)
	return c, setting.Positive(number("max_iter", c.MaxIter), setting.Field{Name: "stop_tol", Value: c.StopTol}, number("refine_iter", c.RefineIter))
}

func (c Config) suits(method estimator.Estimator) error {
	switch {
	case c.Schedule == Moments && !method.OfMatrix():
		return setting.Errorf("schedule", Moments, "method %s needs the rows; use another schedule", method.Name)
	case c.Schedule != Moments && method.OfMatrix():
		return setting.Errorf("schedule", c.Schedule, "method %s uses moments of pairs of columns; use moments", method.Name)
	case c.Schedule == EM && !method.Loss.Needs().Moments:
		return setting.Errorf("schedule", EM, "the loss of method %s has no expectation step; use another schedule", method.Name)
	case c.Schedule == Accelerated && method.Draws():
		return setting.Errorf("schedule", Accelerated, "the gradients of method %s are noisy; use fixed", method.Name)
	case c.Schedule == Accelerated && !method.Minimises():
		return setting.Errorf("schedule", Accelerated, "method %s solves an equation and has no loss; use fixed", method.Name)
	case c.Schedule == Fixed && (c.MaxIter != 0 || c.StopTol != 0):
		return setting.Errorf("schedule", Fixed, "max_iter %d and stop_tol %v are for other schedules; use initial_iter and iter_per_lambda", c.MaxIter, c.StopTol)
	case c.Schedule != Fixed && (c.InitialIter != 0 || c.IterPerLambda != 0):
		return setting.Errorf("schedule", c.Schedule, "initial_iter %d and iter_per_lambda %d are for the fixed schedule; use max_iter", c.InitialIter, c.IterPerLambda)
	}
	return nil
}

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
		refusal = "a network needs at least two other columns"
	case p.Domain.Bounded() || p.Missingness != nil:
		refusal = "covariates cannot be combined with bounds or a missingness mechanism; leave these out, or make the covariates columns of the network"
	case c.Penalty != (Penalty{}) && c.Penalty.Kind != l1:
		refusal = "the penalty " + c.Penalty.Kind + " does not allow covariates; use Spec.Network.Penalty l1"
	case c.Schedule == Fixed:
		refusal = "this method does not allow covariates; use Spec.Steps.Method em-exact"
	case c.Select.Kind == byStability:
		refusal = "Spec.Network.Select stability does not allow covariates; use ebic or fdr"
	}
	if refusal != "" {
		return setting.Errorf("covariates", strings.Join(c.Covariates, ","), "%s", refusal)
	}
	return nil
}
