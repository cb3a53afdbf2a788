package engine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// supports truncate a 4-column normal in each way.
func supports(t *testing.T, g simulate.Gaussian) map[string]*domain.Domain {
	t.Helper()
	box, err := g.TruncateBelow(3, 0.2)
	require.NoError(t, err)
	half := domain.All(4)
	half.Half = []domain.HalfSpace{{A: []float64{0.7, -0.5, 0.3, 0.4}, B: 0.8}}
	both := domain.All(4)
	both.Lower[0] = box.Lower[0]
	both.Half = half.Half
	return map[string]*domain.Domain{"box": box, "half-space": half, "box and half-space": both}
}

// At the truth the expected gradient over truncated data is zero for the exact
// conditional and for complete rows, and it is not if the truncation is ignored or,
// with a half-space, if the score is not made tangential.
func TestExpectedGradientAtTheTruthOnDomains(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and here one worker makes all steps")
	}
	g, err := simulate.Normal(4, stream.New(22, stream.Simulate))
	require.NoError(t, err)
	const batches, n = 60, 400
	worst := func(method string, s, honoured *domain.Domain, w domain.Weight) float64 {
		return testtables.Worst(testtables.MeanSE(batches, func(b int) []float64 {
			rng := stream.New(22, stream.Replicate, uint64(b))
			table, err := g.SampleInside(s, n, rng)
			require.NoError(t, err)
			if method != "full" {
				table, err = data.HideMCAR(table, 0.4, rng)
				require.NoError(t, err)
			}
			m := model.NewGaussian(4, model.CholeskyFactor)
			m.SetMean(g.Mean)
			require.NoError(t, m.SetPrecision(g.Precision))
			_, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(honoured, w), Domain: honoured, Weight: w}, engine.Config{Method: method, Draws: 4, Seed: uint64(b)}, 0)
			require.NoError(t, err)
			return slices.Concat(grads...)
		}))
	}
	for name, s := range supports(t, g) {
		t.Run(name, func(t *testing.T) {
			require.Less(t, worst("exact", s, s, domain.Weight{}), 4.0)
			require.Less(t, worst("exact", s, s, domain.Weight{Scalar: true}), 4.0)
			require.Less(t, worst("full", s, s, domain.Weight{}), 4.0)
			require.Greater(t, worst("exact", s, nil, domain.Weight{}), 8.0, "ignored")
			if len(s.Half) > 0 {
				require.Greater(t, worst("exact", s, s, domain.Weight{NoTangent: true}), 8.0, "as the paper")
			}
		})
	}
}

// A row that cannot be completed inside is named.
func TestFitsRefuseRowsOutside(t *testing.T) {
	_, table := testtables.Normal(t, 30, 24)
	s := domain.All(4)
	s.Lower[2] = 0.4
	_, _, err := engine.Gradient(engine.Problem{Table: table, Model: model.NewGaussian(4, model.Natural), Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}, engine.Config{Method: "iw"}, 0)
	var row *data.RowError
	require.ErrorAs(t, err, &row)
	require.Equal(t, "x3", row.Column)
	require.ErrorContains(t, err, "is below the lower bound 0.4")
	s.Lower = s.Lower[:3]
	_, _, err = engine.Gradient(engine.Problem{Table: table, Model: model.NewGaussian(4, model.Natural), Objective: losses.Classical{}, Domain: s}, engine.Config{Method: "iw"}, 0)
	require.ErrorContains(t, err, "does not fit 4 columns")
}

// Where each row has a gap that a half-space cuts, g = 1 and free draws are all that the
// domain was: the gradient is the one without it. Draws held inside give another.
func TestFreeDrawsDoNotSeeTheDomain(t *testing.T) {
	g, err := simulate.Normal(4, stream.New(25, stream.Simulate))
	require.NoError(t, err)
	s := supports(t, g)["half-space"]
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
