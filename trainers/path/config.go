// Package path estimates Gaussian networks: the L1 path, the choice of λ, and the
// iterations at the chosen λ.
package path

import (
	"errors"

	"gonum.org/v1/gonum/floats"

	"missingscore/internal/setting"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Config is the L1 path of the paper's graph estimation and what follows it. Zero values
// mean the defaults named here; lengths in λ are per column (the loss is divided by
// d, so one range of λ serves tables of any width).
//
// Schedule "fixed" is the paper's: proximal gradient steps, InitialIter and then
// IterPerLambda at every λ, whatever they reach. "accelerated" is for estimators whose
// gradient has no noise, and their default: at every λ spectral steps, one at least,
// until P stops changing. "em" is for estimators whose loss has an expectation step, and
// their default: turns of that and a minimisation to its end. InitialIter and
// IterPerLambda are of the fixed schedule, MaxIter and StopTol of the others, and refused
// with it.
type Config struct {
	Schedule      string  `json:"schedule"`        // "accelerated", "em", "fixed" or "moments"
	Iterations    int     `json:"iterations"`      // sets IterPerLambda or MaxIter, whichever the schedule has, and RefineIter where it is larger
	Penalty       Penalty `json:"penalty"`         // by what pairs come to be ordered; auto where it can be had, else L1
	LambdaMax     float64 `json:"lambda_max"`      // empties the network; from the data, see LambdaMax
	LambdaMin     float64 `json:"lambda_min"`      // makes it dense; LambdaMax/200, the paper's ratio; adaptive /1000, ridge /100
	Lambdas       int     `json:"lambdas"`         // how many, spaced evenly on a log scale; 100
	InitialIter   int     `json:"initial_iter"`    // fixed: iterations at LambdaMax; 200
	IterPerLambda int     `json:"iter_per_lambda"` // fixed: iterations at each λ; 10
	MaxIter       int     `json:"max_iter"`        // accelerated, em: iterations at each λ, at most; 300, em: 20. The path goes on where they do not suffice, but no such λ is chosen
	StopTol       float64 `json:"stop_tol"`        // accelerated, em: a λ is done when 50 proximal gradient steps, or turns, would move nothing by as much; 0.015. With most cells missing, less is slower and finds edges worse
	RefineIter    int     `json:"refine_iter"`     // iterations at the chosen λ, at most; 2000
	Rate          float64 `json:"rate"`            // a proximal gradient step's size per column; 0.015, less for strongly dependent columns
	Whole         bool    `json:"whole,omitempty"` // the path goes on to the smallest λ, even where the choice needs less of it
	Threshold     float64 `json:"threshold"`       // |P_jk| above it is an edge, columns standardised; 0.002
	Floor         float64 `json:"floor"`           // the smallest eigenvalue that P may have; 0.001

	Covariates []string `json:"covariates,omitempty"` // columns that are held constant and are no nodes; Accelerated, EM, Moments, with the penalty l1

	Select    Selection `json:"select"`    // how λ is chosen; EBIC
	Tolerance float64   `json:"tolerance"` // of the refinement at the chosen λ, columns standardised; 0.003
	PathOnly  bool      `json:"path_only"` // no refinement: the result is the path's point at the chosen λ
	Refit     *bool     `json:"refit"`     // the result is the network of the chosen λ without a penalty, not that with it; nil: where EBIC chose by such refits
}

// Accelerated is the schedule for gradients without noise, EM for losses with an
// expectation step, Fixed the paper's, Moments for losses that know the table by one matrix.
const (
	Accelerated = "accelerated"
	EM          = "em"
	Fixed       = "fixed"
	Moments     = "moments"
)

// ErrLambdas says that there is no path between two λ.
var ErrLambdas = errors.New("the largest λ must be at least the smallest, and both positive")

// Resolve fills zero values for a problem and checks the rest. Larger batches repeat
// less work where only a share of it depends on the rows, so they are the accelerated
// schedule's default.
func (c Config) Resolve(p engine.Problem, steps engine.Config) (Config, engine.Config, error) {
	_, method, err := steps.Resolve(p)
	if err != nil {
		return c, steps, err
	}
	if p.Table.D < 2 {
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
	by, _ := c.Select.by()
	if err := by.suits(method); err != nil {
		return c, steps, err
	}
	if err := c.Penalty.check(); err != nil {
		return c, steps, err
	}
	if c.Penalty.Kind == "" {
		c.Penalty = c.usual(p, method)
	}
	order, _ := c.Penalty.by()
	if order != (l1{}) && method.OfMatrix() {
		return c, steps, setting.Errorf("penalty", c.Penalty.text(), "its pilot is made from rows, and method %s goes by moments of pairs of columns; take l1", method.Name)
	}
	if c, err = order.resolve(c, p, method); err != nil {
		return c, steps, err
	}
	refit, err := by.refit(c, p.Missingness != nil)
	if err != nil {
		return c, steps, err
	}
	c.Refit = &refit
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
	if err := c.checkNumbers(); err != nil {
		return c, steps, err
	}
	return c, steps, nil
}

// Check refuses what no table makes possible with an estimator; zero values are defaults
// to come.
func (c Config) Check(e estimator.Estimator) error {
	if _, err := c.resolveSchedule(e); err != nil {
		return err
	}
	if err := c.Penalty.check(); err != nil {
		return err
	}
	if by, ok := c.Select.by(); ok {
		if err := by.suits(e); err != nil {
			return err
		}
	}
	return c.checkNumbers()
}

func (c Config) checkNumbers() error {
	return setting.NotNegative(
		setting.Field{Name: "lambda_max", Value: c.LambdaMax}, setting.Field{Name: "lambda_min", Value: c.LambdaMin},
		setting.Field{Name: "lambdas", Value: float64(c.Lambdas)}, setting.Field{Name: "rate", Value: c.Rate},
		setting.Field{Name: "threshold", Value: c.Threshold}, setting.Field{Name: "floor", Value: c.Floor},
		setting.Field{Name: "tolerance", Value: c.Tolerance})
}

// resolveSchedule fills in what a schedule has, and refuses what is another's.
func (c Config) resolveSchedule(method estimator.Estimator) (Config, error) {
	moments := method.Loss.Needs().Moments
	if c.Schedule == "" {
		switch {
		case method.OfMatrix():
			c.Schedule = Moments
		case moments:
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

// suits refuses a schedule where it is not for a method.
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

// grid is the path's λ, from the largest down.
func (c Config) grid() []float64 {
	if c.Lambdas == 1 {
		return []float64{c.LambdaMax}
	}
	return floats.LogSpan(make([]float64, c.Lambdas), c.LambdaMax, c.LambdaMin)
}
