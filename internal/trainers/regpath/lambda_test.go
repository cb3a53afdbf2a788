package regpath

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

// At P_jj = 1/v_j the largest gradient is LambdaMax without its 5 % margin.
func TestLambdaMaxIsWhereAnEdgeEnters(t *testing.T) {
	standard := star(t, 6, 200, 0.3)
	_, grads := gradientAt(t, engine.Problem{Table: standard}, engine.Config{Method: "exact"}, nil, nil, 0)
	top := 0.0
	for j := range 6 {
		for k := j + 1; k < 6; k++ {
			top = max(top, math.Abs(grads[1][graph.PackedIndex(6, j, k)])/6)
		}
	}
	require.InDelta(t, 1.05*top, lambdaMax(engine.Problem{Table: standard}, nil, covariates{}), 1e-12)
}

// LambdaMax is the largest gradient at the best model without edges, found from gradients, which
// are affine in η_j and P_jj. For complete rows it is exact.
func TestLambdaMaxOnABox(t *testing.T) {
	const d = 5
	for method, missing := range map[string]float64{"full": 0, "exact": 0.3} {
		standard, z := bounded(t, 250, missing)
		gradient := func(theta []float64, iteration int) []float64 {
			p, steps := engine.Problem{Table: standard, Domain: z}, engine.Config{Method: method, Draws: 100, Seed: 1}
			_, grads := gradientAt(t, p, steps, theta[:d], theta[d:], iteration)
			return slices.Concat(grads...)
		}
		var free []int
		theta := make([]float64, d+d*(d+1)/2)
		for j := range d {
			free = append(free, j, d+graph.PackedIndex(d, j, j))
			theta[free[len(free)-1]] = 1
		}
		minimum(t, free, theta, func(theta []float64) []float64 { return gradient(theta, 0) })
		mean, se := testtables.MeanSE(12, func(k int) []float64 { return gradient(theta, k) })
		for _, i := range free {
			require.InDelta(t, 0, mean[i], 1e-12, "not the best model without edges")
		}
		largest := 0
		for i := range mean {
			if math.Abs(mean[i]) > math.Abs(mean[largest]) {
				largest = i
			}
		}
		top := lambdaMax(engine.Problem{Table: standard, Domain: z}, nil, covariates{}) / 1.05
		if missing > 0 {
			require.InDelta(t, math.Abs(mean[largest])/d, top, 4.03*se[largest]/d) // t(11) has its 1 − 1e−3 quantile at 4.03
			require.Less(t, se[largest]/d, 0.005*top, "no power")
			continue
		}
		require.InDelta(t, math.Abs(mean[largest])/d, top, 1e-12)
		edges := func(lambda float64) int {
			r, _ := estimateOf(t, engine.Problem{Table: standard, Domain: z}, engine.Config{Method: method},
				Config{Schedule: Fixed, LambdaMax: lambda, Lambdas: 1, InitialIter: 2000, Threshold: 1e-9, Select: Selection{Kind: "none"}, Tolerance: 1e9})
			return r.State.Points[0].Edges
		}
		require.Zero(t, edges(top*1.001))
		require.Positive(t, edges(top/1.001))
	}
}

// 1/(4 λ_max(S)), with S by hand; λ is the largest root of det(S − λI).
func TestStableRate(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b", "c"}, N: 4, D: 3,
		Values:   []float64{1, 2, 0, -1, 0, 0, 0, 1, 3, 0, -2, 1},
		Observed: []bool{true, true, false, true, true, false, false, true, true, false, true, true}}
	cross, count, v := secondMoments(engine.Problem{Table: table})
	require.Equal(t, []float64{1, 2.25, 5}, v)
	require.Zero(t, count.At(0, 2))
	require.Equal(t, []float64{2, 1}, []float64{cross.At(0, 1), cross.At(1, 2)})

	l := 1 / (4 * stableRate(engine.Problem{Table: table}))
	require.Greater(t, l, 5.0)
	require.InDelta(t, 0, (1-l)*((2.25-l)*(5-l)-0.25)-(5-l), 1e-12)
}
