package engine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// strip is the box [−3, 6]² of columns 1 and 2, cut by x₁ − x₂ ≥ cut, beside a free column.
func strip(cut float64) *domain.Domain {
	s := domain.All(3)
	for _, j := range []int{1, 2} {
		s.Lower[j], s.Upper[j] = -3, 6
	}
	s.Half = []domain.HalfSpace{{A: []float64{0, -1, 1}, B: -cut}}
	return s
}

// stripTable are rows of the normal of a precision on a strip, columns 1 and 2 hidden.
func stripTable(t *testing.T, p *mat.SymDense, s *domain.Domain, n int) *data.Table {
	t.Helper()
	rng := stream.New(5, stream.Simulate)
	whole, ok := distmv.NewNormalPrecision(make([]float64, 3), p, rng)
	require.True(t, ok)
	table := &data.Table{Names: []string{"a", "b", "c"}, D: 3, N: n}
	for row := make([]float64, 3); len(table.Values) < 3*n; {
		if whole.Rand(row); s.Contains(row) {
			table.Values = append(table.Values, row...)
			table.Observed = append(table.Observed, true, false, false)
		}
	}
	return table
}

// At the truth the expected gradient is 0, also where the two gaps of all rows have only a
// narrow strip to lie in: Gibbs steps along the coordinates gave a |z| of 18.7 there.
func TestExpectedGradientInNarrowStrips(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and here one worker makes all steps")
	}
	const n, groups = 12000, 60
	for _, rho := range []float64{0.8, 0.95} {
		for _, share := range []float64{0.1, 0.02} {
			t.Run(fmt.Sprintf("correlation %v, share %v", rho, share), func(t *testing.T) {
				cov := mat.NewSymDense(3, []float64{1, 0.5, 0.5, 0.5, 1, rho, 0.5, rho, 1})
				var chol mat.Cholesky
				require.True(t, chol.Factorize(cov))
				var p mat.SymDense
				require.NoError(t, chol.InverseTo(&p))
				s := strip(distuv.Normal{Sigma: math.Sqrt(2 - 2*rho)}.Quantile(1 - share))
				table := stripTable(t, &p, s, n)
				for _, method := range []string{"exact-mc"} {
					m := model.NewGaussian(3, model.Natural)
					require.NoError(t, m.SetPrecision(&p))
					problem := engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}
					e, err := engine.New(problem, engine.Config{Method: method, Draws: 10, Seed: 3})
					require.NoError(t, err)
					rows := e.AllRows()
					z := testtables.Worst(testtables.MeanSE(groups, func(k int) []float64 {
						step, err := e.Gradient(k, rows[k*n/groups:(k+1)*n/groups], float64(groups)/n)
						require.NoError(t, err)
						return slices.Concat(step.Grads...)
					}))
					t.Logf("%s: worst |z| %.2f", method, z)
					require.Less(t, z, 3.5, method)
				}
			})
		}
	}
}
