// Package descent fits a model's parameters: a file for each optimiser, and what they
// share.
package descent

import (
	"context"
	"fmt"
	"strings"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
	"missingscore/trainers/penalty"
	"missingscore/trainers/rows"
)

// Config says how parameters are sought. Zero values mean the defaults named here, or the
// model's own (model.TrainingOf). A setting of one optimiser is refused by the others.
type Config struct {
	Optimiser string `json:"optimiser"` // proximal, em, lbfgs, adam; "" or auto: em where the loss has an expectation step, lbfgs where the loss is a function of the parameters and the model does not overfit, with a penalty proximal

	Penalty penalty.Config `json:"penalty,omitzero"` // on the couplings of a model.Coupled; none

	// Of adam.
	Epochs     int      `json:"epochs,omitempty"`     // passes over the table at most; 200
	Rate       float64  `json:"rate,omitempty"`       // Adam's rate for the model; 0.01
	Validation *float64 `json:"validation,omitempty"` // share of the rows held out to stop by; nil: 0.1 for models that overfit and 100 rows or more, else 0, none; with a penalty none
	Patience   int      `json:"patience,omitempty"`   // epochs without a lower loss of them that end a fit; 30, or more (model.Training.PatientSteps)
	Average    *float64 `json:"average,omitempty"`    // the fit is a running mean of the parameters in which the last share of the steps has two thirds of the weight; nil: 0.1 for networks, else none; 0: none

	// Of em, lbfgs and proximal.
	Iterations int     `json:"iterations,omitempty"` // at most, of proximal at each λ; 10000
	Tolerance  float64 `json:"tolerance,omitempty"`  // relative gradient, of em relative movement, that ends a fit; 1e-9, of lbfgs with float32 1e-4; of proximal 1e-7, with float32 1e-3
}

// Passes is that many epochs of Adam over all rows, whatever the loss: what the paper does.
func Passes(epochs int, rate float64) Config {
	return Config{Optimiser: adamName, Epochs: epochs, Rate: rate, Validation: new(0.0), Average: new(0.0)}
}

// Check refuses numbers that are out of range; zero values are defaults to come.
func (c Config) Check() error {
	positive := []setting.Field{}
	for _, f := range []setting.Field{
		{Name: "epochs", Value: float64(c.Epochs)}, {Name: "rate", Value: c.Rate}, {Name: "patience", Value: float64(c.Patience)},
		{Name: "iterations", Value: float64(c.Iterations)}, {Name: "tolerance", Value: c.Tolerance},
	} {
		if f.Value != 0 {
			positive = append(positive, f)
		}
	}
	if v := c.Validation; v != nil && !(*v >= 0 && *v <= mostValidation) {
		return setting.Errorf("validation", *v, "it is a share of the rows, from 0 to %g", mostValidation)
	}
	if a := c.Average; a != nil && !(*a >= 0 && *a <= mostAveraged) {
		return setting.Errorf("average", *a, "it is a share of the steps, from 0 to %g", mostAveraged)
	}
	return setting.Positive(positive...)
}

// Resolve chooses the optimiser, fills zero values and checks the rest.
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

// State is everything that changes during a fit beside the engine's part.
type State struct {
	Iteration int // parameter steps made
	History   []Record

	Adam    optim.Adam
	Average [][]float64 // of each parameter; nil without one
	Epoch   sums        // of Adam's epoch under way
	Best    *Best       // by the held-out loss; nil without one
	Before  *float64    // the held-out loss before the first step; nil without one

	Stall      Stall // of em and lbfgs
	EM         em.State
	Start      []float64   // of em: (μ, P)
	Guarded    bool        // begun again, without accelerations that lower the likelihood
	Degenerate *degenerate // the likelihood has no maximum; nil: not found so
	LBFGS      optim.LBFGS
	Flattest   flattest // of lbfgs
	Decrement  float64  // of lbfgs that stalled: what Newton's step promises, relative to the loss
	Stuck      bool     // no step lowers the loss

	Penalised *penalisedState // nil without a penalty
	Spectral  spectral
}

// Fit is one being made: a zero State is a fresh one. The parameters are in the engine's
// model.
type Fit struct {
	*engine.Engine
	Config Config // resolved
	State  *State
	File   *rows.File           // that the rows come from, window by window; nil: the engine's table
	Truth  *evaluate.Comparison // nil if none is known
	Save   func() error         // called when the state is worth saving

	shrink *shrinkage // where the fit has a penalty: at the λ that it is at
}

// Run makes what is left of a fit. When ctx is cancelled it returns its error with the
// state as it is between two steps.
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

// Verdict says whether a fit that has run converged, in a sentence.
func (f *Fit) Verdict() (converged bool, verdict string) {
	o, err := byName(f.Config.Optimiser)
	if err != nil {
		return false, "NOT converged: " + err.Error()
	}
	return o.verdict(f)
}

// Final is the record that the parameters are of: the last, or the best by held-out loss.
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

// optimiser is a way to find a fit's parameters. A new one is a line in optimisers.
type optimiser struct {
	name    string
	refusal func(p Problem) error                       // why it cannot make a fit, or nil
	resolve func(c Config, p Problem) (Config, error)   // fills in the zero values that it needs, and refuses settings that it does not have
	run     func(ctx context.Context, f *Fit) error     // makes what is left of a fit, and saves its state now and then
	verdict func(f *Fit) (converged bool, words string) // of a fit that has run
}

const proximalName, emName, lbfgsName, adamName = "proximal", "em", "lbfgs", "adam"

// The first that does not refuse a fit is its default, but for lbfgs with models that overfit, whose minimum is no
// good fit.
var optimisers = []optimiser{
	{proximalName, refusedByProximal, wholeTable(proximalTolerance, proximalSingleTolerance), runProximal, func(f *Fit) (bool, string) {
		return f.minimised(f.State.Spectral.Count, "take a larger λ")
	}},
	{emName, refusedByEM, wholeTable(defaultTolerance, defaultTolerance), runEM, verdictOfEM},
	{lbfgsName, refusedByLBFGS, wholeTable(defaultTolerance, singleTolerance), runLBFGS, verdictOfLBFGS},
	{adamName, func(Problem) error { return nil }, resolveAdam, runAdam, verdictOfAdam},
}

// Problem is what an optimiser is chosen for.
type Problem struct {
	Estimator estimator.Estimator
	Model     model.Model
	Objective losses.Objective
	Rows      int
	Batch     int // rows in a batch
	DType     graph.DType
	Streamed  bool // the rows are a file's, of which a few are held at a time
	Penalised bool // it has a penalty on couplings
}

// Names are those of optimisers.
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
		return optimiser{}, setting.Errorf("optimiser", name, "it goes over all rows at each iteration, and those of a streamed file are not held: take adam, or leave PrepareFile out")
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

// wholeTable is resolve of a fit over all rows at once: it refuses the settings of adam. single is the tolerance in
// float32.
func wholeTable(tolerance, single float64) func(c Config, p Problem) (Config, error) {
	return func(c Config, p Problem) (Config, error) {
		what := "the loss of method %s has no noise here and is minimised"
		if !p.Estimator.Minimises() {
			what = "the equation of method %s is solved"
		}
		given := []setting.Field{{Name: "epochs", Value: float64(c.Epochs)}, {Name: "rate", Value: c.Rate}, {Name: "patience", Value: float64(c.Patience)}}
		if c.Validation != nil {
			given = append(given, setting.Field{Name: "validation", Value: *c.Validation})
		}
		if c.Average != nil {
			given = append(given, setting.Field{Name: "average", Value: *c.Average})
		}
		if err := foreign(fmt.Sprintf(what+" over all rows at once, without epochs or batches; leave it out, or choose the optimiser adam", p.Estimator.Name), given...); err != nil {
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

func foreign(reason string, settings ...setting.Field) error {
	for _, s := range settings {
		if s.Value != 0 {
			return setting.Errorf(s.Name, s.Value, "%s", reason)
		}
	}
	return nil
}
