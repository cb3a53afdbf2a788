package engine

import (
	"encoding/json"
	"errors"
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

type Problem struct {
	Table     *data.Table
	Model     model.Model
	Objective losses.Objective
	Domain    *domain.Domain // support, in the units of Table; nil: all of R^d

	// Missingness is the mechanism for cells missing not at random, in the units of Table; nil: the
	// method's assumption.
	Missingness model.Missingness

	Weight domain.Weight // g of an objective on a domain

	Normal *model.Gaussian // start of an imputer that supports it (nets.NormalStart); nil: the imputer's own

	// Condensed caches Engine.Condense and PairSums; nil: New creates it.
	Condensed *Condensed
}

// Config configures imputations and gradients. Zero values mean the defaults below.
type Config struct {
	Method       string               `json:"method"`            // name of an estimator
	Estimator    *estimator.Estimator `json:"-"`                 // replaces Method; nil: Method
	Draws        int                  `json:"draws"`             // imputations per row and parameter step, r; 10
	ImputerSteps int                  `json:"imputer_steps"`     // imputer steps per parameter step, L; 10
	WarmUp       *int                 `json:"warm_up,omitempty"` // imputer steps before the first parameter step; nil: 0 along a path, else 500
	Batch        int                  `json:"batch"`             // rows per batch; 100, or all rows if fewer
	ImputerRate  float64              `json:"imputer_rate"`      // learning rate of the imputer; 1e-3
	ImputerLoss  losses.ImputerLoss   `json:"imputer_loss"`      // default KL
	Imputer      ImputerSpec          `json:"imputer"`           // default the paper's network
	ProposalSD   float64              `json:"proposal_sd"`       // standard deviation of the fixed proposal N(0, sd²); 1 (the paper: 4)
	Weighting    string               `json:"weighting"`         // "uniform" or "leave-one-out"; "": the estimator's
	// FreeDraws draws missing cells from R^d despite a domain, as the paper's experiments seem to;
	// expectations are then not the model's.
	FreeDraws bool        `json:"free_draws,omitempty"`
	Seed      uint64      `json:"seed"`
	DType     graph.DType `json:"dtype"` // of the expression graphs and the imputer; the model's parameters and closed-form expectation steps are float64

	Workers int            `json:"-"` // parallel parts of a step; 1. Results do not depend on it
	Observe func(Progress) `json:"-"` // called after each parameter step; may be nil
}

type Progress struct {
	Stage            string // "path", "cv", "stars", "refine", "fit", or "reading" before a fit to a file
	Trial            string // penalty of the path, if several are tried
	Unit             string // "iteration", or "λ" along an accelerated path
	Iteration, Total int
	Lambda           float64 // L1 path
	Edges            int     // L1 path
	Loss             float64 // mean over rows, along a path over rows and columns; NaN if there is none
	EffectiveSize    float64 // mean of 1/Σw² over rows with missing cells; NaN without weights
	Streamed         *Pass   // nil unless rows come from a file
}

type Pass struct {
	Number, Passes int // from 1; maximum
	Done, Rows     int // rows done, and in total
}

type ImputerSpec struct {
	Kind    string          `json:"kind"`              // a name of nets.Imputers; default normal, the paper's
	Options json.RawMessage `json:"options,omitempty"` // of the imputer's maker

	// New replaces the maker of Kind; without a registered Kind the imputer cannot be saved.
	New func(d int, rng *rand.Rand) (nets.Imputer, error) `json:"-"`
}

// Make makes an imputer of d columns. An imputer of New does not support many levels of noise.
func (s ImputerSpec) Make(d int, rng *rand.Rand) (nets.Imputer, error) {
	if s.New == nil {
		return nets.NewImputer(s.Kind, d, s.Options, rng)
	}
	m, err := s.New(d, rng)
	if err == nil && m == nil {
		err = errors.New("ImputerSpec.New returned no imputer")
	}
	return m, err
}

// Named returns the estimator of Estimator or Method. An Estimator without a Name is called own.
func (c Config) Named() (estimator.Estimator, error) {
	if c.Estimator == nil {
		return estimator.ByName(c.Method)
	}
	e := *c.Estimator
	setting.Default(&e.Name, "own")
	setting.Default(&e.Title, e.Name)
	if c.Method != "" && c.Method != "auto" && c.Method != e.Name {
		return e, errors.New("an Estimator is set; leave Method out")
	}
	return e, nil
}

const (
	DefaultBatch        = 100
	DefaultDraws        = 10
	DefaultImputerSteps = 10
)

// Resolve fills in zero values, checks the rest and returns the estimator.
func (c Config) Resolve(p Problem) (Config, estimator.Estimator, error) {
	e, err := c.Named()
	if err != nil {
		return c, e, setting.Errorf("method", c.Method, "%v", err)
	}
	e = e.For(p.joint(), p.Objective, p.Domain)
	c.Method = e.Name
	setting.Default(&c.Draws, DefaultDraws)
	setting.Default(&c.ImputerSteps, DefaultImputerSteps)
	setting.Default(&c.Batch, DefaultBatch)
	setting.Default(&c.Workers, 1)
	setting.Default(&c.ImputerRate, model.DefaultImputerRate)
	setting.Default(&c.ImputerLoss, losses.KL)
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
		return c, e, setting.Errorf("draws", c.Draws, "weighting %s needs at least %d draws per row", w.Name(), least)
	}
	c.Weighting = w.Name()
	return c, e, c.Check()
}

// Check returns an error for values out of range.
func (c Config) Check() error {
	if l := c.ImputerLoss; l != "" {
		if err := setting.OneOf("imputer_loss", string(l), string(losses.KL), string(losses.Fisher)); err != nil {
			return err
		}
	}
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

func (p Problem) joint() model.Model {
	if p.Missingness == nil {
		return p.Model
	}
	return &model.Joint{Model: p.Model, Missingness: p.Missingness}
}
