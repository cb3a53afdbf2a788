// Package extension is what a user writes: a new member of each choice that makes an
// estimator, each in one file, outside missingscore's module. docs/extending.md walks
// through it.
package extension

import (
	"encoding/json"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Student is the multivariate t distribution with ν degrees of freedom,
//
//	log q = −(ν+d)/2 log(1 + m/ν),  m = (x−μ)ᵀP(x−μ)
//
// for networks from data with outliers. With c = (ν+d)/(ν+m) and the normal's score
// u = −P(x−μ): s = cu, D = −c diag P + 2c²/(ν+d) u∘u, Hv = −cPv + 2c²/(ν+d) u(uᵀv).
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
	normal := s.Parametric.Evaluate(b, x) // its log density is −m/2
	log := &graph.Function{Name: "log t", F: func(h float64) float64 { return -(nu + d) / 2 * math.Log1p(-2*h/nu) }}
	log.Derivative = &graph.Function{Name: "c", F: func(h float64) float64 { return (nu + d) / (nu - 2*h) }}
	log.Derivative.Derivative = &graph.Function{Name: "c'", F: func(h float64) float64 { return 2 * (nu + d) / (nu - 2*h) / (nu - 2*h) }}

	c := b.Columns(b.Map(log.Derivative, normal.LogDensity), s.Dim())
	change := b.Scale(2/(nu+d), b.Square(c))
	return model.Evaluation{
		LogDensity: b.Map(log, normal.LogDensity),
		Score:      b.Prod(c, normal.Score),
		Diagonal:   b.Add(b.Prod(c, normal.Diagonal), b.Prod(change, b.Square(normal.Score))),
		HessianProduct: func(v graph.Node) graph.Node {
			along := b.Columns(b.RowDot(normal.Score, v), s.Dim())
			return b.Add(b.Prod(c, normal.HessianProduct(v)), b.Prod(change, b.Prod(normal.Score, along)))
		},
	}
}
