package engine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/internal/testtables"
)

var inf = math.Inf(1)

// gradient is that at g of a table some of whose missingness is known.
func gradient(t *testing.T, g simulate.Gaussian, table *data.Table, told *missingness.Model, c engine.Config, iteration int) ([]float64, error) {
	t.Helper()
	s := told.Support(nil)
	p := engine.Problem{Table: table, Model: testtables.At(t, g), Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s, Missingness: model.MissingnessOf(told)}
	_, grads, err := engine.Gradient(p, c, iteration)
	return slices.Concat(grads...), err
}

// At the truth the expected gradient over data missing not at random is zero with what
// is known of it, and it is not without, with half the slopes or with other signs.
func TestExpectedGradientAtTheTruthNotAtRandom(t *testing.T) {
	slowtest.Skip(t, "4 s")
	g, logistic, censored := testtables.Pair()
	worst := func(method string, by, told *missingness.Model) float64 {
		return testtables.Worst(testtables.MeanSE(24, func(k int) []float64 {
			table := testtables.Hidden(t, g, by, 300, uint64(k))
			grads, err := gradient(t, g, table, told, engine.Config{Method: method, Draws: 100, ProposalSD: 1.5, Seed: uint64(k)}, 0)
			require.NoError(t, err)
			return grads
		}))
	}
	for _, method := range []string{"iw", "variw"} {
		require.Less(t, worst(method, logistic, logistic), 4.0, method)
	}
	require.Less(t, worst("iw", censored, censored), 4.0)
	require.Less(t, worst("exact", censored, censored), 4.0)

	for _, by := range []float64{0, 0.5, -1} {
		wrong := &missingness.Model{Logistic: missingness.NewLogistic(2)}
		copy(wrong.Logistic.Intercept, logistic.Logistic.Intercept)
		wrong.Logistic.Slope.Scale(by, logistic.Logistic.Slope)
		require.Greater(t, worst("iw", logistic, wrong), 8.0, "slopes times %v", by)
	}
	require.Greater(t, worst("iw", logistic, nil), 8.0)
	require.Greater(t, worst("exact", censored, nil), 8.0)
	later := &missingness.Model{Censored: &missingness.Censored{Below: []float64{-inf, -1.2}, Above: []float64{1.4, inf}}}
	require.Greater(t, worst("exact", censored, later), 8.0, "other thresholds")
}

// Every estimator takes φ, but those that need a normal conditional say why not.
func TestEveryEstimatorKnowsMissingness(t *testing.T) {
	g, logistic, censored := testtables.Pair()
	table := testtables.Hidden(t, g, logistic, 60, 9)
	cut := testtables.Hidden(t, g, censored, 60, 9)
	complete, err := g.Sample(60, stream.New(1))
	require.NoError(t, err)
	of := func(e estimator.Estimator, table *data.Table, told *missingness.Model) ([]float64, error) {
		return gradient(t, g, table, told, engine.Config{Method: e.Name, Seed: 2}, 0)
	}
	for _, e := range estimator.All {
		if e.OfMatrix() { // no steps over rows
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			seen, censoredSeen := table, cut
			if e.NeedsCompleteRows() {
				seen, censoredSeen = complete, within(t, g, censored)
			}
			with, err := of(e, seen, logistic)
			if e.NeedsNormal() {
				require.ErrorContains(t, err, "with a model of missingness they are not; use iw, variw or var")
			} else {
				require.NoError(t, err)
				without, err := of(e, seen, nil)
				require.NoError(t, err)
				require.NotEqual(t, without, with)
			}
			_, err = of(e, censoredSeen, censored)
			if e.Fallback == "em-exact-mc" {
				require.Error(t, err)
				return
			}
			if e.NeedsFloat64Rows() {
				require.ErrorContains(t, err, "censored cells lie beyond the bounds of those: use em")
				return
			}
			require.NoError(t, err)
		})
	}
}

// within is a table of rows none of whose cells is censored.
func within(t *testing.T, g simulate.Gaussian, by *missingness.Model) *data.Table {
	t.Helper()
	s := by.Support(nil)
	s.Gaps = nil
	table, err := g.SampleInside(s, 60, stream.New(1))
	require.NoError(t, err)
	return table
}
