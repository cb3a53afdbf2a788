// Package extension is what a user writes: a new member of each choice that makes an
// estimator, each in one file, outside missingscore's module. docs/extending.md walks
// through it.
package extension

import (
	"encoding/json"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Student is the multivariate t distribution with ν degrees of freedom,
//
//	log q = −(ν+d)/2 log(1 + m/ν),  m = (x−μ)ᵀP(x−μ)
//
// for networks from data with outliers.
type Student struct {
	model.Parametric // a normal's μ and P, their parameters and names
	Freedom          float64
}

func init() {
	model.Models["student"] = func(d int, options []byte, _ *rand.Rand) (model.Model, error) {
		o := studentOptions{Freedom: 4}
		if len(options) > 0 {
			if err := json.Unmarshal(options, &o); err != nil {
				return nil, err
			}
		}
		return Student{model.NewGaussian(d, model.CholeskyFactor), o.Freedom}, nil
	}
}

type studentOptions struct {
	Freedom float64 `json:"freedom"`
}

// Options implements model.Configured.
func (s Student) Options() any { return studentOptions{s.Freedom} }

// Evaluate implements model.Model.
func (s Student) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	d, nu := float64(s.Dim()), s.Freedom
	half := s.Parametric.Evaluate(b, x).LogDensity        // −m/2 of the normal
	ratio := b.Map(graph.Complement, b.Scale(2/nu, half)) // 1 + m/ν
	return model.Derive(b, x, b.Scale(-(nu+d)/2, b.Map(graph.Log, ratio)))
}
