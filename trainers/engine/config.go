package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
)

// Problem is what is fitted: a model to a table by an objective.
type Problem struct {
	Table     *data.Table
	Model     model.Model
	Objective losses.Objective
	Domain    *domain.Domain // the support, in the units of Table; nil: all of R^d

	// Missingness is what is known of cells missing not at random, for rows as Table has
	// them; nil: as the method takes them. Censoring is a matter of Domain.
	Missingness model.Missingness

	Weight domain.Weight // g of an objective on a domain

	Normal *model.Gaussian // whose conditionals an imputer starts at that can (nets.NormalStart); nil: its own start

	// Condensed is what Engine.Condense and PairSums have made of Table's rows; New makes it where it is nil.
	Condensed *Condensed
}

// Config is how gaps are filled and gradients are computed. Zero values mean the
// defaults named here.
type Config struct {
	Method       string               `json:"method"`            // an estimator's name
	Estimator    *estimator.Estimator `json:"-"`                 // in place of Method's: a source, a weighting and a loss; nil: Method's
	Draws        int                  `json:"draws"`             // r, imputations per row and parameter step; 10
	ImputerSteps int                  `json:"imputer_steps"`     // L, imputer steps per parameter step; 10
	WarmUp       *int                 `json:"warm_up,omitempty"` // imputer steps before the first parameter step; nil: 0 along a path, 500 for other fits
	Batch        int                  `json:"batch"`             // table rows in a batch; 100, or all rows if fewer
	ImputerRate  float64              `json:"imputer_rate"`      // Adam's rate for the imputer; 1e-3
	ImputerLoss  losses.ImputerLoss   `json:"imputer_loss"`      // KL
	Imputer      ImputerSpec          `json:"imputer"`           // the paper's network
	ProposalSD   float64              `json:"proposal_sd"`       // deviation of the fixed proposal N(0, sd²); 1 (the paper: 4)
	Weighting    string               `json:"weighting"`         // "uniform" or "leave-one-out"; "": the estimator's own
	// FreeDraws takes the missing cells from all of R^d, whatever the domain, as the paper's
	// experiments seem to: the expectations are then not those of the model on its domain.
	FreeDraws bool        `json:"free_draws,omitempty"`
	Seed      uint64      `json:"seed"`
	DType     graph.DType `json:"dtype"` // of the expression graphs; the model's parameters stay float64, the imputer's do not, and expectation steps in closed form are float64

	Workers int            `json:"-"` // parallel parts of a step; 1. Results do not depend on it.
	Observe func(Progress) `json:"-"` // called after each parameter step, if set
}

// Progress is what Config.Observe sees.
type Progress struct {
	Stage            string // "path", "cv", "stars", "refine", "fit", or "reading" before the fit to a streamed file
	Trial            string // the penalty whose path it is, where several are tried
	Unit             string // what is counted: "iteration", or "λ" along an accelerated path
	Iteration, Total int
	Lambda           float64 // of the L1 path
	Edges            int     // of the L1 path
	Loss             float64 // reported loss: mean over rows, along a path over rows and columns; NaN for "cv" and "stars", which count parts, and along a path of thresholds
	EffectiveSize    float64 // mean of 1/Σw² over rows with gaps; NaN without weights
	Streamed         *Pass   // of steps over a file whose rows are not held; else nil
}

// Pass is how far a fit is in a pass over the rows.
type Pass struct {
	Number, Passes int // from 1; at most so many
	Done, Rows     int // rows of it
}

// ImputerSpec says which imputer is trained along.
type ImputerSpec struct {
	Kind    string          `json:"kind"`              // a name of nets.Imputers; normal, the paper's
	Options json.RawMessage `json:"options,omitempty"` // as its maker takes them

	// New makes the imputer of d columns in place of Kind's maker. Kind is then the name that a saved one is read by; without one it cannot be saved.
	New func(d int, rng *rand.Rand) (nets.Imputer, error) `json:"-"`
}

// Make makes the imputer of d columns. It is none of many levels of noise if it is made by New.
func (s ImputerSpec) Make(d int, rng *rand.Rand) (nets.Imputer, error) {
	if s.New == nil {
		return nets.NewImputer(s.Kind, d, s.Options, rng)
	}
	m, err := s.New(d, rng)
	if err == nil && m == nil {
		err = errors.New("ImputerSpec.New gives no imputer")
	}
	return m, err
}

// Named is the estimator that Estimator or Method says. An Estimator without a Name is called own.
func (c Config) Named() (estimator.Estimator, error) {
	if c.Estimator == nil {
		return estimator.ByName(c.Method)
	}
	e := *c.Estimator
	setting.Default(&e.Name, "own")
	setting.Default(&e.Title, e.Name)
	if c.Method != "" && c.Method != "auto" && c.Method != e.Name {
		return e, fmt.Errorf("an Estimator is given by value: leave Method out")
	}
	return e, nil
}

// DefaultBatch is how many rows a step takes.
const DefaultBatch = 100

// DefaultDraws is how many imputations a row has in a step.
const DefaultDraws = 10

// Resolve fills zero values for a problem and checks the rest. It gives the estimator
// that Method is for it.
func (c Config) Resolve(p Problem) (Config, estimator.Estimator, error) {
	e, err := c.Named()
	if err != nil {
		return c, e, setting.Errorf("method", c.Method, "%v", err)
	}
	e = e.For(p.Joint(), p.Objective, p.Domain)
	c.Method = e.Name
	setting.Default(&c.Draws, DefaultDraws)
	setting.Default(&c.ImputerSteps, 10)
	setting.Default(&c.Batch, DefaultBatch)
	setting.Default(&c.Workers, 1)
	setting.Default(&c.ImputerRate, model.DefaultImputerRate)
	if c.Imputer.New == nil {
		setting.Default(&c.Imputer.Kind, "normal")
	}
	setting.Default(&c.ProposalSD, 1)
	if c.WarmUp == nil {
		c.WarmUp = new(0)
	}
	c.Batch = min(c.Batch, max(1, p.Table.PassRows()))
	if !e.Draws() {
		c.Draws = 1
	}
	w, err := e.WeightingFor(c.Weighting, c.Draws)
	if err != nil {
		return c, e, setting.Errorf("weighting", c.Weighting, "%v", err)
	}
	if least := w.Needs().Draws; c.Draws < least {
		return c, e, setting.Errorf("draws", c.Draws, "weighting %s needs at least %d draws of a row", w.Name(), least)
	}
	c.Weighting = w.Name()
	return c, e, c.Check()
}

// Check refuses numbers that are out of range; zero values are defaults to come.
func (c Config) Check() error {
	warmUp := 0
	if c.WarmUp != nil {
		warmUp = *c.WarmUp
	}
	return setting.NotNegative(
		setting.Field{Name: "draws", Value: float64(c.Draws)}, setting.Field{Name: "imputer_steps", Value: float64(c.ImputerSteps)},
		setting.Field{Name: "warm_up", Value: float64(warmUp)}, setting.Field{Name: "batch", Value: float64(c.Batch)},
		setting.Field{Name: "imputer_rate", Value: c.ImputerRate}, setting.Field{Name: "proposal_sd", Value: c.ProposalSD},
		setting.Field{Name: "workers", Value: float64(c.Workers)})
}

// Joint is the model with its missingness, if that is known.
func (p Problem) Joint() model.Model {
	if p.Missingness == nil {
		return p.Model
	}
	return &model.Joint{Model: p.Model, Missingness: p.Missingness}
}
