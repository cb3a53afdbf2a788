package engine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func TestWeightedEstimatorsApproachTheClosedForm(t *testing.T) {
	_, table := testtables.Normal(t, 12, 21)
	gradient := func(method string, iteration int) []float64 {
		m := model.NewGaussian(4, model.CholeskyFactor)
		m.SetMean([]float64{0.3, 0.1, 0.6, 0.4})
		require.NoError(t, m.SetPrecision(mat.NewSymDense(4, []float64{1.2, 0.3, 0, -0.2, 0.3, 1, 0.2, 0, 0, 0.2, 0.9, 0.1, -0.2, 0, 0.1, 1.1})))
		_, g, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: method, Draws: 3000, ProposalSD: 2, Seed: 1}, iteration)
		require.NoError(t, err)
		return slices.Concat(g...)
	}
	want := gradient("exact", 0)
	for _, method := range []string{"iw", "variw", "exact-mc"} {
		mean, se := testtables.MeanSE(10, func(k int) []float64 { return gradient(method, k) })
		for i := range want {
			require.InDelta(t, want[i], mean[i], 5*se[i]+1e-9, "%s, gradient %d", method, i)
			require.Less(t, se[i], 0.05, "the check has no power")
		}
	}
}

// With g = 1 and free draws the gradient is that without the domain.
func TestFreeDrawsDoNotSeeTheDomain(t *testing.T) {
	g, err := simulate.Normal(4, stream.New(25, stream.Simulate))
	require.NoError(t, err)
	s := domain.All(4)
	s.Half = []domain.HalfSpace{{A: []float64{0.7, -0.5, 0.3, 0.4}, B: 0.8}}
	rng := stream.New(25, stream.Simulate, 1)
	table, err := g.SampleInside(s, 40, rng)
	require.NoError(t, err)
	for i := range table.N {
		gap := 4*i + rng.IntN(4)
		table.Values[gap], table.Observed[gap] = math.NaN(), false
	}
	for _, method := range []string{"iw", "var", "variw", "em"} {
		t.Run(method, func(t *testing.T) {
			gradient := func(s *domain.Domain, free bool) []float64 {
				m := model.NewGaussian(4, model.CholeskyFactor)
				m.SetMean(g.Mean)
				require.NoError(t, m.SetPrecision(g.Precision))
				w := domain.Weight{Scalar: true, Cap: 1, NoTangent: true}
				_, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, w), Domain: s, Weight: w},
					engine.Config{Method: method, FreeDraws: free, Seed: 1}, 0)
				require.NoError(t, err)
				return slices.Concat(grads...)
			}
			none := gradient(nil, false)
			require.InDeltaSlice(t, none, gradient(s, true), 1e-12)
			restricted := gradient(s, false)
			require.Greater(t, floats.Distance(none, restricted, math.Inf(1)), 1e-3)
		})
	}
}
