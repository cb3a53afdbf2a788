// Package trainers fits models to tables with missing cells: one Spec and one function Estimate for
// networks and all other models. Sub-packages:
//
//	estimator  methods by name: a source, a weighting and a loss each
//	source     sources of missing values
//	fitted     saved models: impute, sample, score
//	replicate  networks of many tables
//	compare    tests whether two networks differ
//	power      number of rows that a network needs
//
// Nothing here prints; progress goes to a callback. Errors and warnings name settings, as
// Spec.Steps.Method and ReadOptions.Exclude (data.ReadOptions); the command line maps them to
// flags.
package trainers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/transform"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/optim"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
)

// Spec configures an estimate. The zero value fits a Gaussian with the default method and settings
// for the table.
type Spec struct {
	Model     ModelSpec     `json:"model"`
	Objective ObjectiveSpec `json:"objective"`

	Transform   Transform          `json:"transform,omitzero"` // functions of columns
	Domain      *domain.Domain     `json:"domain"`             // support, in the table's units; nil: all of R^d
	Weight      domain.Weight      `json:"weight"`             // g of an objective on a domain
	Missingness *missingness.Model `json:"-"`                  // missingness mechanism, in the table's units; nil: the method's assumption
	KeepUnits   bool               `json:"keep_units"`         // do not standardise columns

	Steps   Steps    `json:"steps"`             // method, draws, imputer, seed
	Descent Descent  `json:"descent"`           // fits of parameters
	Network *Network `json:"network,omitempty"` // Gaussian network along an L1 path; nil: fit of parameters

	Inference Inference `json:"inference,omitzero"` // standard errors and intervals

	Truth *Truth `json:"-"` // compared with a fit after each epoch, in the table's units; may be nil
}

// Steps selects the method and configures imputations and gradients. Zero values mean the defaults.
//
//	Method       string               // name of an estimator, or auto
//	Estimator    *estimator.Estimator // own method, replaces Method
//	Draws        int                  // imputations per row and parameter step; 10
//	Imputer      ImputerSpec          // network that draws missing cells
//	ImputerSteps int                  // imputer steps per parameter step; 10
//	ImputerRate  float64              // learning rate of the imputer; 1e-3
//	ImputerLoss  losses.ImputerLoss   // KL or Fisher
//	WarmUp       *int                 // imputer steps before the first parameter step; 500, of networks 0
//	Batch        int                  // rows per batch; 100
//	ProposalSD   float64              // standard deviation of the fixed proposal; 1
//	Weighting    string               // uniform or leave-one-out; default by method
//	FreeDraws    bool                 // draw missing cells from all of R^d despite a domain
//	Seed         uint64
//	DType        graph.DType          // of the loss: float64 or float32
//	Workers      int                  // threads; results do not depend on them
//	Observe      func(Progress)       // called after each parameter step; may be nil
type Steps = engine.Config

// ImputerSpec selects the imputer:
//
//	Kind    string          // a name of nets.Imputers; normal
//	Options json.RawMessage // of the imputer's maker
//	New     func(d int, rng *rand.Rand) (nets.Imputer, error) // own imputer, replaces Kind
type ImputerSpec = engine.ImputerSpec

// Progress is the state of an estimate at a parameter step:
//
//	Stage            string  // path, cv, stars, refine, fit, or reading before a fit to a file
//	Trial            string  // penalty of the path, if several are tried
//	Unit             string  // iteration, or λ along an accelerated path
//	Iteration, Total int
//	Lambda           float64 // of a path
//	Edges            int     // of a path
//	Loss             float64 // mean over rows; NaN if there is none
//	EffectiveSize    float64 // mean of 1/Σw²; NaN without weights
//	Streamed         *engine.Pass // Number, Passes, Done, Rows of a pass over a file; nil for tables
type Progress = engine.Progress

// Descent configures the optimiser of a fit of parameters. Zero values mean the model's defaults.
//
//	Optimiser  string   // auto, adam, em, lbfgs or proximal
//	Penalty    penalty.Config
//	Epochs     int      // adam: maximum number of passes over the rows
//	Rate       float64  // adam: learning rate
//	Validation *float64 // adam: held-out share of the rows
//	Patience   int      // adam: epochs without a lower held-out loss before the fit ends
//	Average    *float64 // adam: share of the steps in the running average
//	Iterations int      // em, lbfgs, proximal: maximum
//	Tolerance  float64  // em, lbfgs, proximal: relative gradient or movement at which a fit ends
type Descent = descent.Config

// Network configures the L1 path of a Gaussian network. Zero values mean the defaults.
//
//	Penalty               Penalty
//	Select                Selection // of λ or edges; EBIC
//	Refit                 *bool     // fit the chosen network without the penalty; nil: with EBIC
//	Covariates            []string  // columns that are conditioned on and are no nodes
//	LambdaMax, LambdaMin  float64   // ends of the path
//	Lambdas               int       // number of λ; 100
//	Iterations            int       // at each λ
//	Threshold             float64   // |P_jk| above it is an edge, columns standardised; 0.002
//	Tolerance             float64   // of the refinement at the chosen λ; 0.003
//	Whole                 bool      // continue to the smallest λ even if the choice does not need it
//	PathOnly              bool      // no refinement at the chosen λ
//	Schedule              string    // accelerated, em, fixed or moments; default by method
//	MaxIter, StopTol, RefineIter, InitialIter, IterPerLambda, Rate, Floor // of a schedule
type Network = regpath.Config

// Penalty orders the pairs of a network: Kind l1, adaptive, ridge or auto, and Alpha, the shrinkage
// of the pilot of adaptive and ridge, 0 for automatic.
type Penalty = regpath.Penalty

// Selection chooses λ or edges:
//
//	Kind              string   // ebic, cv, stars, stability, fdr, density or none
//	Gamma             *float64 // ebic, fdr; nil: by rows and columns
//	Folds             int      // cv; 5
//	Beta              float64  // stars: maximum instability; 0.05
//	FalseEdges, Share float64  // stability: 1 and 0.75
//	Rate              float64  // fdr; 0.1
//	Density           float64  // density: share of pairs that are edges
type Selection = regpath.Selection

// Adam is the optimiser of Kingma & Ba 2015, for training loops of one's own:
//
//	Rate  float64     // the zero value needs only a rate
//	Steps int         // made so far
//	M, V  [][]float64 // first and second moments, by parameter
//	Step(params []*graph.Param, grads [][]float64)
type Adam = optim.Adam

// Transform selects functions of columns:
//
//	Columns map[string]string // by column: log, log1p, sqrt, logit, npn, ordinal, none
//	Others  string            // of all other columns
type Transform = transform.Spec

// Inference selects standard errors and intervals. The zero value selects none:
//
//	Kind      string  // auto, none, model, robust or bootstrap; for a fit none or robust
//	Resamples int     // of bootstrap
//	Level     float64 // of confidence intervals; 0.95
//	Stability int     // subsamples for the stability of centralities; 0: none
type Inference = inference.Config

// Truth is a known distribution to compare a fit with:
//
//	Model  model.Model // of Fisher divergence and errors
//	Sample []float64   // (n, d): draws of Model; nil: Fisher divergence of normals only
//	Unknown []string   // quantities of Model that have no truth, as mean
//	View, Scale        // set by Estimate: units of the fit
type Truth = evaluate.Truth

// SettingError is an unusable value of a setting. Its fields are
//
//	Field   string // the setting's name in Spec's JSON, as imputer_rate; the flag has dashes
//	Value   string // as given
//	Allowed string // allowed values or reason, as "it must be positive"
//
// Message(name string) string is the text of Error with the setting called name.
type SettingError = setting.Error

// DefaultModel is the default of ModelSpec.Kind.
const DefaultModel = "gaussian"

// ModelSpec selects the model.
type ModelSpec struct {
	Kind    string          `json:"kind"`              // a name of model.Models; default gaussian
	Options json.RawMessage `json:"options,omitempty"` // of the model's maker

	// New makes a new model at each call and replaces the maker of Kind. Without a registered Kind
	// the model cannot be saved.
	New func(d int, rng *rand.Rand) (model.Model, error) `json:"-"`
}

// Random numbers depend on seed only.
func (s ModelSpec) make(d int, seed uint64) (model.Model, error) {
	if s.New != nil {
		m, err := s.New(d, stream.New(seed, stream.Initial, 1))
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			return nil, &setting.Error{Field: "model", Allowed: "ModelSpec.New returned no model"}
		case m.Dim() != d:
			return nil, &setting.Error{Field: "model", Allowed: fmt.Sprintf("ModelSpec.New returned a model of %d columns for a table of %d", m.Dim(), d)}
		}
		return m, nil
	}
	m, err := model.New(s.Kind, d, s.Options, stream.New(seed, stream.Initial, 1))
	var large *memory.Error
	if errors.As(err, &large) {
		return nil, err
	}
	if err != nil {
		return nil, &setting.Error{Field: "model", Allowed: err.Error()}
	}
	return m, nil
}

// ObjectiveSpec selects the objective.
type ObjectiveSpec struct {
	Kind    string          `json:"kind"`              // a name of losses.Objectives, or auto: classical, on a domain truncated
	Options json.RawMessage `json:"options,omitempty"` // of the objective's maker

	// New replaces the maker of Kind. Kind is then only the name in the model's file.
	New losses.ObjectiveMaker `json:"-"`
}

func (o ObjectiveSpec) make(s losses.ObjectiveSetting) (losses.Objective, error) {
	s.Options = o.Options
	if o.New != nil {
		made, err := o.New(s)
		if err == nil && made == nil {
			err = &setting.Error{Field: "objective", Allowed: "ObjectiveSpec.New returned no objective"}
		}
		return made, err
	}
	made, err := losses.NewObjective(o.Kind, s)
	if err != nil {
		return nil, &setting.Error{Field: "objective", Allowed: err.Error()}
	}
	return made, nil
}
