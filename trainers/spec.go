// Package trainers fits models to tables with missing cells: one Spec, one function
// Estimate, for networks and for every other model. Its sub-packages hold the parts:
//
//	estimator  the methods by name: a source, a weighting and a loss each
//	source     where missing values come from
//	engine     the two kinds of step that every fit alternates
//	descent    fits of parameters: optimisers, when they stop
//	mixed      mixtures of numbers and levels, by EM of the likelihood
//	regpath    networks: the L1 path, the choice of λ, refinement
//	inference  how uncertain a network's partial correlations are, and a fit's parameters
//	optim      optimisers as plain values
//	fitted     models in files, and what is done with them: impute, sample, score
//	evaluate   comparisons with a truth and with differences
//	replicate  networks of many tables, and what comes of them:
//	compare    whether two networks differ
//	power      how many rows a network needs
//
// Nothing here prints; progress goes to a callback. Errors and warnings name the settings
// that they advise, as Spec.Steps.Method and ReadOptions.Exclude (data.ReadOptions); the command
// line translates these to its flags.
package trainers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// Spec is all that an estimate rests on. The zero value fits a Gaussian, by the method
// and with the settings that are the defaults for the table.
type Spec struct {
	Model     ModelSpec     `json:"model"`
	Objective ObjectiveSpec `json:"objective"`

	Transform   transform.Spec     `json:"transform,omitzero"` // functions of columns that the model is of, in place of the columns
	Domain      *domain.Domain     `json:"domain"`             // the support, in the table's units; nil: all of R^d
	Weight      domain.Weight      `json:"weight"`             // g of an objective on a domain
	Missingness *missingness.Model `json:"-"`                  // what is known of cells missing not at random, in the table's units; nil: as the method takes them
	KeepUnits   bool               `json:"keep_units"`         // do not standardise the columns meanwhile

	Steps   engine.Config   `json:"steps"`             // method, draws, imputer, seed
	Descent descent.Config  `json:"descent"`           // of fits of parameters
	Network *regpath.Config `json:"network,omitempty"` // a Gaussian network along an L1 path instead; nil: parameters

	Inference inference.Config `json:"inference,omitzero"` // how uncertain a network is, or the parameters of another fit

	Truth *evaluate.Truth `json:"-"` // to compare a fit with after each epoch, in the table's units; may be nil
}

// SettingError says that a setting has a value that cannot be used. Its fields are
//
//	Field   string // the setting's name in Spec's JSON, as imputer_rate; the command line's flag has dashes
//	Value   string // as it was given
//	Allowed string // what it may be, or why this value may not be, as "it must be positive"
//
// Message(name string) string is the text of Error with the setting called name.
type SettingError = setting.Error

// DefaultModel is the model of a Spec that names none.
const DefaultModel = "gaussian"

// ModelSpec says which model is fitted.
type ModelSpec struct {
	Kind    string          `json:"kind"`              // a name of model.Models; gaussian
	Options json.RawMessage `json:"options,omitempty"` // as its maker takes them

	// New makes the model, a new one at each call, in place of Kind's maker. Kind is then the
	// registered name that a saved model is read by; without one it cannot be saved.
	New func(d int, rng *rand.Rand) (model.Model, error) `json:"-"`
}

// make starts a model of d columns: what is random of it depends on the seed.
func (s ModelSpec) make(d int, seed uint64) (model.Model, error) {
	if s.New != nil {
		m, err := s.New(d, stream.New(seed, stream.Initial, 1))
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			return nil, &setting.Error{Field: "model", Allowed: "ModelSpec.New gives no model"}
		case m.Dim() != d:
			return nil, &setting.Error{Field: "model", Allowed: fmt.Sprintf("ModelSpec.New gives one of %d columns for a table of %d", m.Dim(), d)}
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

// ObjectiveSpec says by which objective.
type ObjectiveSpec struct {
	Kind    string          `json:"kind"`              // a name of losses.Objectives, or auto: classical, on a domain truncated
	Options json.RawMessage `json:"options,omitempty"` // as its maker takes them

	// New makes the objective in place of Kind's maker. Kind is then only what the model's
	// file calls it.
	New losses.ObjectiveMaker `json:"-"`
}

func (o ObjectiveSpec) make(s losses.ObjectiveSetting) (losses.Objective, error) {
	s.Options = o.Options
	if o.New != nil {
		made, err := o.New(s)
		if err == nil && made == nil {
			err = &setting.Error{Field: "objective", Allowed: "ObjectiveSpec.New gives no objective"}
		}
		return made, err
	}
	made, err := losses.NewObjective(o.Kind, s)
	if err != nil {
		return nil, &setting.Error{Field: "objective", Allowed: err.Error()}
	}
	return made, nil
}
