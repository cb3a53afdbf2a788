package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/estimatortest"
)

func TestEstimators(t *testing.T) {
	for _, e := range trainers.Estimators {
		t.Run(e.Name, func(t *testing.T) { estimatortest.Run(t, e.Name) })
	}
}

func TestUnknownEstimator(t *testing.T) {
	_, err := trainers.EstimatorByName("vae")
	require.EqualError(t, err, `there is no method "vae"; methods are var, iw, variw, exact, exact-mc, em, em-full, zeroed, full`)
}

// small is an incomplete table and a Gaussian away from its truth.
func small(t *testing.T, n int, seed uint64) (data.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(seed, stream.Simulate)
	g, err := data.SimulateNormal(4, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.4, rng)
	require.NoError(t, err)
	return g, table
}

// meanSE are the means of repeated gradients and their standard errors.
func meanSE(repeats int, gradient func(k int) []float64) (mean, se []float64) {
	n := float64(repeats)
	for k := range repeats {
		g := gradient(k)
		if k == 0 {
			mean, se = make([]float64, len(g)), make([]float64, len(g))
		}
		for i, v := range g {
			mean[i] += v / n
			se[i] += v * v / n
		}
	}
	for i, square := range se {
		se[i] = math.Sqrt(max(square-mean[i]*mean[i], 0) / (n - 1))
	}
	return mean, se
}

// worst is the largest of |mean|/se.
func worst(mean, se []float64) (z float64) {
	for i := range mean {
		z = max(z, math.Abs(mean[i])/se[i])
	}
	return z
}

// The importance-weighted estimators approach the closed form as r grows,
// whatever the proposal: a fixed normal, or an imputer that knows nothing yet.
func TestWeightedEstimatorsApproachTheClosedForm(t *testing.T) {
	_, table := small(t, 12, 21)
	gradient := func(method string, iteration int) []float64 {
		m := model.NewGaussian(4, model.CholeskyFactor)
		m.SetMean([]float64{0.3, 0.1, 0.6, 0.4})
		require.NoError(t, m.SetPrecision(mat.NewSymDense(4, []float64{1.2, 0.3, 0, -0.2, 0.3, 1, 0.2, 0, 0, 0.2, 0.9, 0.1, -0.2, 0, 0.1, 1.1})))
		_, g, err := trainers.Gradient(table, m, losses.Classical{}, trainers.Config{Method: method, Draws: 3000, ProposalSD: 2, Seed: 1}, iteration)
		require.NoError(t, err)
		return slices.Concat(g...)
	}
	want := gradient("exact", 0)
	for _, method := range []string{"iw", "variw", "exact-mc"} {
		mean, se := meanSE(10, func(k int) []float64 { return gradient(method, k) })
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
		mean, se := meanSE(batches, func(b int) []float64 {
			rng := stream.New(22, stream.Simulate)
			g, err := data.SimulateNormal(4, rng)
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
			_, grads, err := trainers.Gradient(table, m, losses.Classical{}, trainers.Config{Method: method, Draws: 4, Seed: uint64(b)}, 0)
			require.NoError(t, err)
			return slices.Concat(grads...)
		})
		worst := worst(mean, se)
		t.Logf("%s: the largest of %d means is %.1f standard errors from zero", method, len(mean), worst)
		if method == "zeroed" {
			require.Greater(t, worst, 10.0)
		} else {
			require.Less(t, worst, 4.0, method)
		}
	}
}
