package trainers

import (
	"errors"

	"missingscore/trainers/path"
)

// settings are what a model file records of a Spec beside the model itself.
type settings struct {
	Method  string       `json:"method"`
	Steps   any          `json:"steps"`
	Weight  any          `json:"weight"`
	Descent any          `json:"descent,omitempty"`
	Network *path.Config `json:"network,omitempty"`

	KeepUnits bool `json:"keep_units"`
}

// Encode gives the text of the model's file, with what the fit was and how it ended;
// blas is the matrix library that was in use. See fitted.Saved.Encode.
func (r *Result) Encode(blas string) ([]byte, error) {
	s := r.Spec
	if r.Model.Kind == "" {
		return nil, errors.New("the model has no kind to be read by: register it in model.Models and name it in ModelSpec.Kind")
	}
	extra := map[string]any{
		"method": s.Steps.Method, "objective": s.Objective.Kind, "loss": r.Loss, "converged": r.Converged, "verdict": r.Verdict,
		"warnings": append([]string{}, r.Warnings...), "blas": blas,
	}
	if len(s.Objective.Options) > 0 {
		extra["objective_options"] = s.Objective.Options
	}
	recorded := settings{Method: s.Steps.Method, Steps: s.Steps, Weight: s.Weight, Network: s.Network, KeepUnits: s.KeepUnits}
	if r.Network != nil {
		extra["lambda"] = r.Network.Lambda
	} else {
		recorded.Descent = s.Descent
	}
	extra["settings"] = recorded
	return r.Model.Encode(extra)
}
