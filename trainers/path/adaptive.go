package path

import (
	"context"
	"fmt"

	"missingscore/graph"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// adaptive is the penalty λ Σ_{j<k} w_jk |P_jk| with weights from a pilot estimate (Zou
// 2006; for networks Zhou, Rütimann, Xu & Bühlmann 2011): with r the partial correlations
// of a ridge pilot and m the median of their sizes,
//
//	w_jk = 1 / (|r_jk| / m + 1/10)
//
// (docs/theory/penalties.md#eq-adaptive). A strong pair is shrunk by less than a weak one.
type adaptive struct{}

const (
	adaptiveFloor = 0.1  // bounds the weights of pairs that the pilot nearly leaves out
	adaptiveRatio = 1000 // of the largest λ to the smallest: weak pairs have large weights
)

func (adaptive) name() string { return "adaptive" }

func (adaptive) form() string {
	return "adaptive[=ALPHA] (pairs that are strong in a ridge pilot less)"
}

func (adaptive) pilots() bool { return true }

func (adaptive) resolve(c Config, p engine.Problem, _ estimator.Estimator) (Config, error) {
	return c.piloted(p, adaptiveRatio)
}

func (adaptive) prepare(ctx context.Context, r *Run) error {
	if err := r.pilot(ctx); err != nil {
		return err
	}
	weights := adaptiveWeights(r.State.Pilot.Packed, r.Table.D)
	r.weigh(weights)
	return r.span(adaptiveRatio, func() float64 { return lambdaMax(r.Problem, weights, covariates{}) })
}

// adaptiveWeights are those of a pilot, packed; the diagonal's are 0.
func adaptiveWeights(pilot []float64, d int) []float64 {
	r := sizes(pilot, d)
	m := median(r)
	weights := make([]float64, len(pilot))
	for j, i := 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			w := 1.0 // of a pilot without correlations
			if m > 0 {
				w = 1 / (r[i]/m + adaptiveFloor)
			}
			weights[graph.PackedIndex(d, j, k)] = w
		}
	}
	return weights
}

func (adaptive) describe(s *State) string {
	return fmt.Sprintf("adaptive L1: a pair's weight falls with its partial correlation in a ridge pilot %s", s.Pilot.describe())
}
