// Package trainers fits models to tables with missing cells: one Spec and one function Estimate for
// networks and all other models. Sub-packages:
//
//	estimator  methods by name: a source, a weighting and a loss each
//	source     sources of missing values
//	engine     imputer steps and parameter steps
//	descent    fits of parameters: optimisers and stopping rules
//	regpath    networks: L1 path, choice of λ, refinement
//	optim      optimisers as plain values
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
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/inference"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// Spec configures an estimate. The zero value fits a Gaussian with the default method and settings
// for the table.
type Spec struct {
	Model     ModelSpec     `json:"model"`
	Objective ObjectiveSpec `json:"objective"`

	Transform   transform.Spec     `json:"transform,omitzero"` // functions of columns
	Domain      *domain.Domain     `json:"domain"`             // support, in the table's units; nil: all of R^d
	Weight      domain.Weight      `json:"weight"`             // g of an objective on a domain
	Missingness *missingness.Model `json:"-"`                  // missingness mechanism, in the table's units; nil: the method's assumption
	KeepUnits   bool               `json:"keep_units"`         // do not standardise columns

	Steps   engine.Config   `json:"steps"`             // method, draws, imputer, seed
	Descent descent.Config  `json:"descent"`           // fits of parameters
	Network *regpath.Config `json:"network,omitempty"` // Gaussian network along an L1 path; nil: fit of parameters

	Inference inference.Config `json:"inference,omitzero"` // standard errors and intervals

	Truth *evaluate.Truth `json:"-"` // compared with a fit after each epoch, in the table's units; may be nil
}

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

// make returns the initial model of d columns; its random numbers depend on seed only.
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
