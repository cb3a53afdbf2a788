package engine

import (
	"fmt"
	"math"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/nets"
)

// Config is what every fit needs. Zero values mean the defaults named here.
type Config struct {
	Method       string             `json:"method"`        // an Estimator's name
	Draws        int                `json:"draws"`         // r, imputations per row and parameter step; 10
	ImputerSteps int                `json:"imputer_steps"` // L, imputer steps per parameter step; 10
	WarmUp       int                `json:"warm_up"`       // imputer steps before the first parameter step; 0
	Batch        int                `json:"batch"`         // table rows in a batch; 100, or all rows if fewer
	ImputerRate  float64            `json:"imputer_rate"`  // Adam's rate for the imputer; 1e-3
	ImputerLoss  losses.ImputerLoss `json:"imputer_loss"`  // KL
	Imputer      nets.Options       `json:"imputer"`       // the paper's network
	ProposalSD   float64            `json:"proposal_sd"`   // deviation of the fixed proposal N(0, sd²); 1 (the paper: 4)
	Correction   string             `json:"correction"`    // "plugin", "loo", or "" for the estimator's own
	Seed         uint64             `json:"seed"`
	DType        graph.DType        `json:"dtype"`  // of the expression graphs; parameters and optimisers are float64
	Domain       *domain.Domain     `json:"domain"` // the support, in the table's units; nil: all of R^d
	Weight       domain.Weight      `json:"weight"` // g of the truncated objective

	// Missingness is what is known of cells missing not at random, for rows as the table
	// has them; nil: missing completely at random. Censoring is a matter of Domain.
	Missingness model.Missingness `json:"missingness,omitempty"`

	Workers int            `json:"-"` // parallel parts of a step; 1. Results do not depend on it.
	Observe func(Progress) `json:"-"` // called after each parameter step, if set
}

// Progress is what Config.Observe sees.
type Progress struct {
	Stage            string // "path", "cv", "stars", "refine" or "fit"
	Unit             string // what is counted: "iteration", or "λ" along an accelerated path
	Iteration, Total int
	Lambda           float64 // of the L1 path
	Edges            int     // of the L1 path
	Loss             float64 // reported loss (M): mean over rows, along a path over rows and columns; NaN for "cv" and "stars", which count parts
	EffectiveSize    float64 // mean of 1/Σw² over rows with gaps; NaN without weights
}

// EstimatorFor is the estimator that a method is with an objective.
func EstimatorFor(method string, o losses.Objective) (Estimator, error) {
	e, err := EstimatorByName(method)
	if _, classical := o.(losses.Classical); err == nil && e.Restricted != "" && !classical {
		return EstimatorByName(e.Restricted)
	}
	return e, err
}

// withDefaults fills zero values and checks the rest.
func (c Config) withDefaults(rows int, o losses.Objective) (Config, Estimator, error) {
	e, err := EstimatorFor(c.Method, o)
	if err != nil {
		return c, e, err
	}
	c.Method = e.Name
	noising, _ := o.(losses.Noising)
	c.Imputer.Levelled = noising != nil && !noising.Schedule().Single()
	setDefault(&c.Draws, 10)
	setDefault(&c.ImputerSteps, 10)
	setDefault(&c.Batch, 100)
	setDefault(&c.Workers, 1)
	setDefault(&c.ImputerRate, 1e-3)
	setDefault(&c.ProposalSD, 1)
	c.Batch = min(c.Batch, rows)
	if !e.Draws {
		c.Draws = 1
	}
	switch c.Correction {
	case "":
		c.Correction = "plugin"
		if e.Correction == losses.LeaveOneOut && c.Draws >= 3 {
			c.Correction = "loo"
		}
	case "plugin", "loo":
	default:
		return c, e, fmt.Errorf("correction %q: it is plugin or loo", c.Correction)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"draws", float64(c.Draws)}, {"imputer steps", float64(c.ImputerSteps)}, {"batch", float64(c.Batch)},
		{"imputer rate", c.ImputerRate}, {"proposal sd", c.ProposalSD}, {"workers", float64(c.Workers)},
	} {
		if !(v.value > 0) || math.IsInf(v.value, 0) {
			return c, e, fmt.Errorf("%s is %v: it must be positive", v.name, v.value)
		}
	}
	return c, e, nil
}

func (c Config) correction() losses.Correction {
	if c.Correction == "loo" {
		return losses.LeaveOneOut
	}
	return losses.PlugIn
}

// setDefault fills a zero value.
func setDefault[T comparable](v *T, byDefault T) {
	var zero T
	if *v == zero {
		*v = byDefault
	}
}
