package path

import (
	"context"

	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// l1 is the penalty λ Σ_{j<k} |P_jk|, of all pairs alike.
type l1 struct{}

func (l1) name() string { return "l1" }

func (l1) form() string { return "l1 (all pairs alike)" }

func (l1) pilots() bool { return false }

const lambdaRatio = 200 // of the largest λ to the smallest, the paper's

func (l1) resolve(c Config, p engine.Problem, method estimator.Estimator) (Config, error) {
	if method.OfMatrix() { // its moments tell, which the run takes
		return c, nil
	}
	of := newCovariates(p.Table.Names, c.Covariates)
	top := func() float64 {
		top := lambdaMax(p, nil, of)
		if p.Missingness != nil {
			top *= 1.3 // the score of φ is left aside there
		}
		return top
	}
	ratio := float64(lambdaRatio)
	if d := p.Table.D; d > DenseColumns && c.LambdaMin == 0 && !p.Domain.Bounded() {
		if c.LambdaMax == 0 {
			c.LambdaMax = top()
		}
		ratio = crowdedRatio(d, meanPairCount(p), nullGradient(p, of), c.LambdaMax*float64(p.Table.N*d))
	}
	return c.span(ratio, top)
}

// prepare finds the λ where another penalty was resolved.
func (l1) prepare(_ context.Context, r *Run) error {
	r.weighCovariates()
	return r.span(r.lambdaRatio(), r.emptying)
}

func (l1) describe(*State) string { return "L1, all pairs alike" }
