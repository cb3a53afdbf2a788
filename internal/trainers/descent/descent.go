// Package descent fits a model's parameters, with a file for each optimiser.
package descent

import (
	"context"
	"slices"
	"strings"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
	"missingscore/internal/trainers/rows"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/penalty"
)

// Config configures the search for parameters. Zero values mean the defaults below or the model's
// own (model.TrainingOf). Settings of another optimiser are errors.
type Config struct {
	Optimiser string `json:"optimiser"` // proximal, em, lbfgs or adam; "" or auto: proximal with a penalty, em if the loss has an expectation step, lbfgs if the loss is deterministic and the model does not overfit, else adam

	Penalty penalty.Config `json:"penalty,omitzero"` // on the couplings of a model.Coupled; default none

	// For adam.
	Epochs     int      `json:"epochs,omitempty"`     // maximum number of passes over the table; 200
	Rate       float64  `json:"rate,omitempty"`       // learning rate of the model; 0.01
	Validation *float64 `json:"validation,omitempty"` // held-out share of the rows; nil: 0.1 for models that overfit with 100 rows or more, else 0; 0 with a penalty
	Patience   int      `json:"patience,omitempty"`   // epochs without a lower held-out loss before the fit ends; 30 or more (model.Training.PatientSteps)
	Average    *float64 `json:"average,omitempty"`    // share of the steps with two thirds of the weight in the running average; nil: 0.1 for networks, else 0: no average

	// For em, lbfgs and proximal.
	Iterations int     `json:"iterations,omitempty"` // maximum, for proximal at each λ; 10000
	Tolerance  float64 `json:"tolerance,omitempty"`  // relative gradient, for em relative movement, at which a fit ends; 1e-9, lbfgs with float32 1e-4; proximal 1e-7, with float32 1e-3
}

// Passes configures the paper's Adam: a fixed number of epochs over all rows.
func Passes(epochs int, rate float64) Config {
	return Config{Optimiser: adamName, Epochs: epochs, Rate: rate, Validation: new(0.0), Average: new(0.0)}
}

// Check returns an error for numbers out of range.
func (c Config) Check() error {
	if v := c.Validation; v != nil && !(*v >= 0 && *v <= mostValidation) {
		return setting.Errorf("validation", *v, "it must be a share of the rows, from 0 to %g", mostValidation)
	}
	if a := c.Average; a != nil && !(*a >= 0 && *a <= mostAveraged) {
		return setting.Errorf("average", *a, "it must be a share of the steps, from 0 to %g", mostAveraged)
	}
	return setting.Positive(slices.DeleteFunc([]setting.Field{
		{Name: "epochs", Value: float64(c.Epochs)}, {Name: "rate", Value: c.Rate}, {Name: "patience", Value: float64(c.Patience)},
		{Name: "iterations", Value: float64(c.Iterations)}, {Name: "tolerance", Value: c.Tolerance},
	}, func(f setting.Field) bool { return f.Value == 0 })...)
}

func (c Config) Resolve(p Problem) (Config, error) {
	err := c.Check()
	if err != nil {
		return c, err
	}
	if c.Penalty, err = c.Penalty.Resolve(p.Rows); err != nil {
		return c, err
	}
	if p.Penalised = c.Penalty.Asked(); p.Penalised {
		if err := c.checkPenalised(p); err != nil {
			return c, err
		}
	}
	o, err := choose(c.Optimiser, p)
	if err != nil {
		return c, err
	}
	c.Optimiser = o.name
	return o.resolve(c, p)
}

// State is everything that changes during a fit, without the engine's part.
type State struct {
	Iteration int // number of parameter steps
	History   []Record

	Adam    optim.Adam
	Average [][]float64 // by parameter; nil without averaging
	Epoch   sums        // of Adam's current epoch
	Best    *Best       // by held-out loss; nil without held-out rows
	Before  *float64    // held-out loss before the first step; nil without held-out rows

	Stall      Stall // em and lbfgs
	EM         em.State
	Start      []float64   // em: (μ, P)
	Guarded    bool        // restarted without accelerations that lower the likelihood
	Degenerate *degenerate // the likelihood has no maximum; nil: not detected
	LBFGS      optim.LBFGS
	Flattest   flattest // lbfgs
	Decrement  float64  // lbfgs after a stall: decrease predicted by Newton's step, relative to the loss
	Stuck      bool     // no step lowers the loss

	Penalised *penalisedState // nil without a penalty
	Spectral  spectral
}

// Fit is a fit in progress. A zero State starts a new one. The parameters are in the engine's
// model.
type Fit struct {
	*engine.Engine
	Config Config // resolved
	State  *State
	File   *rows.File           // source of rows, in windows; nil: the engine's table
	Truth  *evaluate.Comparison // nil without a truth
	Save   func() error         // called at points where the state can be saved

	shrink *shrinkage // penalty at the current λ; nil without a penalty
}

// Run completes the fit. If ctx is cancelled it returns ctx's error with the state between two
// steps.
func (f *Fit) Run(ctx context.Context) error {
	o, err := byName(f.Config.Optimiser)
	if err != nil {
		return err
	}
	if f.Config.Penalty.Asked() {
		return f.penalised(ctx, o)
	}
	return o.run(ctx, f)
}

// Verdict reports whether a completed fit converged, with the reason.
func (f *Fit) Verdict() (converged bool, verdict string) {
	o, _ := byName(f.Config.Optimiser) // Run has failed for others
	return o.verdict(f)
}

// Final returns the history record of the returned parameters: the last one, or the best by
// held-out loss.
func (f *Fit) Final() Record {
	h := f.State.History
	if b := f.State.Best; b != nil {
		return h[b.Epoch-1]
	}
	return h[len(h)-1]
}

func (f *Fit) record(r Record) (err error) {
	if f.shrink != nil {
		r.Lambda = f.shrink.lambda
	}
	if f.Truth != nil {
		if r.Errors, err = f.Truth.Errors(); err != nil {
			return err
		}
	}
	f.State.History = append(f.State.History, r)
	return nil
}

type optimiser struct {
	name    string
	refusal func(p Problem) error                       // reason why it cannot make a fit, or nil
	resolve func(c Config, p Problem) (Config, error)   // fills in zero values and checks for settings of other optimisers
	run     func(ctx context.Context, f *Fit) error     // completes a fit and saves its state
	verdict func(f *Fit) (converged bool, words string) // of a completed fit
}

const proximalName, emName, lbfgsName, adamName = "proximal", "em", "lbfgs", "adam"

// The default is the first optimiser without a refusal; lbfgs is skipped for models that overfit.
var optimisers = []optimiser{
	{proximalName, refusedByProximal, wholeTable(proximalName, proximalTolerance, proximalSingleTolerance), runProximal, func(f *Fit) (bool, string) {
		return f.minimised(f.State.Spectral.Count, "take a larger λ")
	}},
	{emName, refusedByEM, wholeTable(emName, defaultTolerance, defaultTolerance), runEM, verdictOfEM},
	{lbfgsName, refusedByLBFGS, wholeTable(lbfgsName, defaultTolerance, singleTolerance), runLBFGS, verdictOfLBFGS},
	{adamName, func(Problem) error { return nil }, resolveAdam, runAdam, verdictOfAdam},
}

type Problem struct {
	Estimator estimator.Estimator
	Model     model.Model
	Objective losses.Objective
	Rows      int
	Batch     int // rows per batch
	DType     graph.DType
	Streamed  bool // rows come from a file in windows
	Penalised bool // penalty on couplings
}

func Names() (names []string) {
	for _, o := range optimisers {
		names = append(names, o.name)
	}
	return names
}

func byName(name string) (optimiser, error) {
	for _, o := range optimisers {
		if o.name == name {
			return o, nil
		}
	}
	return optimiser{}, setting.Errorf("optimiser", name, "it is one of auto, %s", strings.Join(Names(), ", "))
}

func choose(name string, p Problem) (optimiser, error) {
	switch asked := name != "" && name != "auto"; {
	case asked && p.Streamed && name != adamName:
		return optimiser{}, setting.Errorf("optimiser", name, "each iteration needs all rows in memory; use adam, or leave PrepareFile out")
	case asked:
		o, err := byName(name)
		if err == nil && o.refusal(p) != nil {
			err = setting.Errorf("optimiser", name, "%v", o.refusal(p))
		}
		return o, err
	}
	for _, o := range optimisers {
		whole := o.name != adamName && (p.Streamed || o.name == lbfgsName && model.TrainingOf(p.Model).Overfits)
		if !whole && o.refusal(p) == nil {
			return o, nil
		}
	}
	panic("adam refuses no fit")
}

// wholeTable resolves fits over all rows at once; single is the tolerance in float32.
func wholeTable(name string, tolerance, single float64) func(c Config, p Problem) (Config, error) {
	return func(c Config, p Problem) (Config, error) {
		set := map[string]bool{
			"epochs": c.Epochs != 0, "rate": c.Rate != 0, "patience": c.Patience != 0,
			"validation": c.Validation != nil && *c.Validation != 0, "average": c.Average != nil && *c.Average != 0,
		}
		if err := setting.Unread("optimiser "+name, false, set); err != nil {
			return c, err
		}
		c.Validation, c.Average = nil, nil
		setting.Default(&c.Iterations, defaultIterations)
		if p.DType == graph.Float32 {
			setting.Default(&c.Tolerance, single)
		}
		setting.Default(&c.Tolerance, tolerance)
		return c, nil
	}
}
