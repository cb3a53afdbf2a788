package engine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// The importance-weighted estimators approach the closed form as r grows,
// whatever the proposal: a fixed normal, or an imputer that knows nothing yet.
func TestWeightedEstimatorsApproachTheClosedForm(t *testing.T) {
	_, table := testtables.Normal(t, 12, 21)
	gradient := func(method string, iteration int) []float64 {
		m := model.NewGaussian(4, model.CholeskyFactor)
		m.SetMean([]float64{0.3, 0.1, 0.6, 0.4})
		require.NoError(t, m.SetPrecision(mat.NewSymDense(4, []float64{1.2, 0.3, 0, -0.2, 0.3, 1, 0.2, 0, 0, 0.2, 0.9, 0.1, -0.2, 0, 0.1, 1.1})))
		_, g, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: method, Draws: 3000, ProposalSD: 2, Seed: 1}, iteration)
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

// At the truth the expected gradient is zero for the estimators without bias,
// and for Zeroed, whose marginal scores are wrong, it is not.
func TestExpectedGradientAtTheTruth(t *testing.T) {
	for _, method := range []string{"exact", "exact-mc", "full", "zeroed"} {
		const batches, n = 60, 400
		mean, se := testtables.MeanSE(batches, func(b int) []float64 {
			rng := stream.New(22, stream.Simulate)
			g, err := simulate.Normal(4, rng)
			require.NoError(t, err)
			rng = stream.New(22, stream.Replicate, uint64(b))
			table, err := g.Sample(n, rng)
			require.NoError(t, err)
			if method != "full" {
				table, err = data.HideMCAR(table, 0.4, rng)
				require.NoError(t, err)
			}
			m := model.NewGaussian(4, model.CholeskyFactor)
			m.SetMean(g.Mean)
			require.NoError(t, m.SetPrecision(g.Precision))
			_, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: method, Draws: 4, Seed: uint64(b)}, 0)
			require.NoError(t, err)
			return slices.Concat(grads...)
		})
		worst := testtables.Worst(mean, se)
		t.Logf("%s: the largest of %d means is %.1f standard errors from zero", method, len(mean), worst)
		if method == "zeroed" {
			require.Greater(t, worst, 10.0)
		} else {
			require.Less(t, worst, 4.0, method)
		}
	}
}
