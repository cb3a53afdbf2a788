package trainers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/missingness"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// A cut fit goes on only with the same missingness, and with the same bytes.
func TestResumingWithMissingness(t *testing.T) {
	g, logistic, _ := testtables.Pair()
	table := testtables.Hidden(t, g, logistic, 60, 10)
	fit := func(told *missingness.Model, s *trainers.State, cut bool) ([]float64, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m := testtables.At(t, g)
		c := fitOf(m, engine.Config{Method: "var", Batch: 20, Seed: 3}, descent.Passes(4, 0))
		c.Missingness = told
		c.Steps.Observe = func(p engine.Progress) {
			if cut && p.Iteration == 5 {
				cancel()
			}
		}
		_, err := trainers.Estimate(ctx, table, c, trainers.Run{State: s})
		return append(m.Mean(), m.Packed.Value...), err
	}
	want, err := fit(logistic, &trainers.State{}, false)
	require.NoError(t, err)
	s := &trainers.State{}
	_, err = fit(logistic, s, true)
	require.ErrorIs(t, err, context.Canceled)
	other := &missingness.Model{Logistic: missingness.NewLogistic(2)}
	other.Logistic.Intercept[0] = 0
	_, err = fit(other, s, false)
	require.ErrorIs(t, err, trainers.ErrOtherRun)
	_, err = fit(nil, s, false)
	require.ErrorIs(t, err, trainers.ErrOtherRun)
	got, err := fit(logistic, s, false)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// The claim itself: fits of self-masked normal columns find mean and variance if they
// know φ, and are far off if they do not; likewise for censored ones.
func TestRecoveryNotAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of estimates, not of workers")
	}
	two, logistic, censored := testtables.Pair()
	one := simulate.Gaussian{Mean: []float64{0.5}, Precision: mat.NewSymDense(1, []float64{0.8})}
	self := missingness.NewLogistic(1)
	self.Intercept[0] = 0.5
	self.Slope.Set(0, 0, -1.5)
	const replicates = 8
	for name, c := range map[string]struct {
		g      simulate.Gaussian
		by     *missingness.Model
		method string
	}{
		"one column":  {one, &missingness.Model{Logistic: self}, "iw"},
		"two columns": {two, logistic, "iw"},
		"censored":    {two, censored, "exact"},
	} {
		t.Run(name, func(t *testing.T) {
			z := func(told *missingness.Model) (worst float64) {
				var errors [][]float64
				for k := range replicates {
					table := testtables.Hidden(t, c.g, c.by, 1000, 50, uint64(k))
					m := model.NewGaussian(len(c.g.Mean), model.CholeskyFactor)
					for _, rate := range []float64{0.05, 0.005} {
						s := fitOf(m, engine.Config{Method: c.method, Batch: 250, Seed: uint64(k), ProposalSD: 1.5}, descent.Passes(25, rate))
						s.Missingness = told
						_, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
						require.NoError(t, err)
					}
					e := m.Mean()
					p := m.Precision()
					for i := range c.g.Mean {
						e[i] -= c.g.Mean[i]
						for j := range i + 1 {
							e = append(e, p.At(i, j)-c.g.Precision.At(i, j))
						}
					}
					errors = append(errors, e)
				}
				for i := range errors[0] {
					var e []float64
					for _, of := range errors {
						e = append(e, of[i])
					}
					mean, sd := stat.MeanStdDev(e, nil)
					worst = max(worst, math.Abs(mean)/stat.StdErr(sd, replicates))
				}
				return worst
			}
			require.Less(t, z(c.by), 5.41) // t(7) has its 1 − 5e−4 quantile there
			require.Greater(t, z(nil), 12.)
		})
	}
}

// A network's mean and precision in the table's own units, far from standard ones.
func TestNetworkNotAtRandom(t *testing.T) {
	slowtest.Skip(t, "12 s")
	g, logistic, censored := testtables.Pair()
	const replicates = 6
	for name, by := range map[string]*missingness.Model{"logistic": logistic, "censored": censored} {
		t.Run(name, func(t *testing.T) {
			other := by.Standardised([]float64{-0.3, 1}, []float64{0.1, 2}) // of columns (x1 + 0.3)/0.1, (x2 − 1)/2
			z := func(known *missingness.Model) (worst float64) {
				errors := make([][]float64, 4)
				for k := range replicates {
					table := testtables.Hidden(t, g, by, 500, 60, uint64(k))
					for i := 0; i < len(table.Values); i += 2 {
						table.Values[i], table.Values[i+1] = (table.Values[i]+0.3)/0.1, (table.Values[i+1]-1)/2
					}
					fit, err := trainers.Estimate(t.Context(), table, trainers.Spec{
						Steps:       engine.Config{Method: "iw", Seed: uint64(k), ProposalSD: 1.5},
						Network:     &regpath.Config{Lambdas: 3, InitialIter: 100, IterPerLambda: 100, Select: regpath.Selection{Kind: "none"}, Tolerance: 1e9}, // the path alone
						Missingness: known,
					}, trainers.Run{})
					require.NoError(t, err)
					require.Nil(t, fit.Spec.Domain, "where the data can lie has not changed")
					r := fit.Network
					for i, e := range []float64{0.1*r.Mean[0] - 0.3 - g.Mean[0], 2*r.Mean[1] + 1 - g.Mean[1],
						r.Precision.At(0, 0)/0.01 - g.Precision.At(0, 0), r.Precision.At(1, 1)/4 - g.Precision.At(1, 1)} {
						errors[i] = append(errors[i], e)
					}
				}
				for _, e := range errors {
					mean, sd := stat.MeanStdDev(e, nil)
					worst = max(worst, math.Abs(mean)/stat.StdErr(sd, replicates))
				}
				return worst
			}
			require.Less(t, z(other), 6.87) // t(5) has its 1 − 5e−4 quantile there
			require.Greater(t, z(nil), 12.)
		})
	}
}
