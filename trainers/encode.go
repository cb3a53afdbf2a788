package trainers

import (
	"errors"
	"io"

	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// settings are what a model file records of a Spec beside the model itself.
type settings struct {
	Steps   any             `json:"steps"`
	Weight  any             `json:"weight"`
	Descent any             `json:"descent,omitempty"`
	Network *regpath.Config `json:"network,omitempty"`

	KeepUnits bool `json:"keep_units"`
}

// Encode gives the text of the model's file, with what the fit was and how it ended.
// See fitted.Saved.Encode.
func (r *Result) Encode() ([]byte, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	s := r.Spec
	if r.Model.Kind == "" {
		return nil, errors.New("the model has no kind to be read by: register it in model.Models and name it in ModelSpec.Kind")
	}
	extra := map[string]any{
		"method": s.Steps.Method, "objective": s.Objective.Kind, "loss": r.Loss,
		"warnings": append([]string{}, r.Warnings...), "blas": blas,
	}
	if len(s.Objective.Options) > 0 {
		extra["objective_options"] = s.Objective.Options
	}
	recorded := settings{Steps: s.Steps, Weight: s.Weight, Network: s.Network, KeepUnits: s.KeepUnits}
	if m := r.Mixing; m != nil && engine.Finite(m.RHat, m.Worst) {
		extra["r_hat"], extra["worst_r_hat"], extra["worst_row"] = m.RHat, m.Worst, m.Row+1
	}
	if r.Penalty != nil {
		extra["penalty"] = r.Penalty
	}
	if r.Network != nil {
		extra["lambda"] = r.Network.Lambda
	} else {
		recorded.Descent = s.Descent
	}
	extra["settings"] = recorded
	return r.Model.Encode(extra)
}

// Save writes the model's file whole or not at all. fitted.Load reads it.
func (r *Result) Save(path string) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
}
