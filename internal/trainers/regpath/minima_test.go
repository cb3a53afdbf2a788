package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

// New gradients per column: 0 for η and the diagonal, −λ w sign P_jk on edges, within ±λ w
// elsewhere.
func TestPathsMeetTheConditions(t *testing.T) {
	const d = 5
	_, sparse := testtables.Star(t, d, 200, 0.35)
	_, complete := testtables.Star(t, d, 300, 0)
	inside, box := bounded(t, 300, 0)
	for name, c := range map[string]struct {
		table           *data.Table
		method, penalty string
		domain          *domain.Domain
	}{
		"exact":             {sparse, "exact", l1, nil},
		"the paper's exact": {sparse, "exact", l1, nil},
		"full":              {complete, "full", l1, nil},
		"zeroed":            {sparse, "zeroed", l1, nil},
		"full in box":       {inside, "full", l1, box},
		"pairwise":          {complete, "pairwise", l1, nil},
		"em-exact":          {sparse, "em-exact", l1, nil},
		"adaptive exact":    {sparse, "exact", adaptive, nil},
		"adaptive em-exact": {sparse, "em-exact", adaptive, nil},
	} {
		t.Run(name, func(t *testing.T) {
			table, scale := data.Standardise(c.table)
			s := c.domain.Standardised(scale.Mean, scale.Deviation)
			p, steps := engine.Problem{Table: table, Domain: s}, engine.Config{Method: c.method}
			config := Config{Penalty: Penalty{Kind: c.penalty}, Lambdas: 6, StopTol: 1e-7, MaxIter: 5000, Select: Selection{Kind: "none"}, PathOnly: true}
			if name == "the paper's exact" {
				config = Config{Penalty: config.Penalty, Schedule: Fixed, InitialIter: 3000, IterPerLambda: 3000, Lambdas: 4, LambdaMin: 0.05, Select: config.Select, PathOnly: true}
			}
			r, _ := estimateOf(t, p, steps, config)
			require.Empty(t, r.unfinished())
			require.Zero(t, r.State.Points[0].Edges)
			weights := make([]float64, len(r.packed()))
			for i := range weights {
				weights[i] = 1
			}
			if c.penalty == adaptive {
				weights = adaptiveWeights(sizes(r.State.Pilot.Packed, d), d)
			}
			if c.method == "pairwise" {
				steps.Method = "full"
				require.InEpsilon(t, lambdaMax(engine.Problem{Table: table, Weight: r.Weight}, nil, covariates{}), r.Config.LambdaMax, 1e-12)
			}
			edges := 0
			for k, q := range r.State.Points {
				if k > 0 && c.method == "pairwise" {
					require.Equal(t, floats.Distance(r.State.Points[k-1].Packed(), q.Packed(), math.Inf(1)), q.Change)
				}
				require.Zero(t, q.Projections)
				loss, grads := gradientAt(t, p, steps, q.Linear, q.Packed(), 0)
				if r.Config.Schedule == Accelerated || r.Config.Schedule == Moments {
					require.InDelta(t, loss/d, q.Loss, 1e-12)
				}
				if r.fitsMean() {
					require.InDeltaSlice(t, make([]float64, d), grads[0], 1e-6)
				}
				for j := range d {
					require.InDelta(t, 0, grads[1][graph.PackedIndex(d, j, j)]/d, 1e-6)
					for k := j + 1; k < d; k++ {
						at := graph.PackedIndex(d, j, k)
						slope, most := grads[1][at]/d, q.Lambda*weights[at]
						if q.Packed()[at] == 0 {
							require.LessOrEqual(t, math.Abs(slope), most+1e-6)
							continue
						}
						edges++
						require.InDelta(t, -math.Copysign(most, q.Packed()[at]), slope, 1e-6)
					}
				}
			}
			require.Greater(t, edges, 9)
		})
	}
}
