package trainers_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

var inf = math.Inf(1)

// pair is N((½, −0.3), P⁻¹) and two laws of its missing cells: self-masking that also
// looks at the other column, and thresholds.
func pair() (data.Gaussian, *missingness.Model, *missingness.Model) {
	g := data.Gaussian{Mean: []float64{0.5, -0.3}, Precision: mat.NewSymDense(2, []float64{1.2, 0.5, 0.5, 1})}
	l := missingness.NewLogistic(2)
	l.Intercept[0], l.Intercept[1] = 0.8, 0.6
	l.Slope.SetRow(0, []float64{-1.5, 0.5})
	l.Slope.SetRow(1, []float64{0, 1.2})
	return g, &missingness.Model{Logistic: l}, &missingness.Model{Censored: &missingness.Censored{Below: []float64{-inf, -0.8}, Above: []float64{1, inf}}}
}

func at(t *testing.T, g data.Gaussian) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(len(g.Mean), model.CholeskyFactor)
	m.SetMean(g.Mean)
	require.NoError(t, m.SetPrecision(g.Precision))
	return m
}

func hidden(t *testing.T, g data.Gaussian, by missingness.Mechanism, n int, keys ...uint64) *data.Table {
	t.Helper()
	complete, err := g.Sample(n, stream.New(41, append(keys, stream.Simulate)...))
	require.NoError(t, err)
	table, err := missingness.Hide(complete, by, stream.New(41, append(keys, stream.Hide)...))
	require.NoError(t, err)
	return table
}

// known is a config that takes m into account.
func known(c trainers.Config, m *missingness.Model) trainers.Config {
	c.Domain = m.Support(nil)
	c.Missingness = model.MissingnessOf(m)
	return c
}

// At the truth the expected gradient over data missing not at random is zero with what
// is known of it, and it is not without, with half the slopes or with other signs.
func TestExpectedGradientAtTheTruthNotAtRandom(t *testing.T) {
	g, logistic, censored := pair()
	worst := func(method string, by, told *missingness.Model) float64 {
		return worst(meanSE(24, func(k int) []float64 {
			table := hidden(t, g, by, 300, uint64(k))
			c := known(trainers.Config{Method: method, Draws: 100, ProposalSD: 1.5, Seed: uint64(k)}, told)
			_, grads, err := trainers.Gradient(table, at(t, g), losses.ObjectiveFor(c.Domain, c.Weight), c, 0)
			require.NoError(t, err)
			return slices.Concat(grads...)
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

// Weighted draws and the exact conditional of censored cells give one gradient.
func TestWeightedEstimatorsAgreeWithExactWhenCensored(t *testing.T) {
	g, _, censored := pair()
	table := hidden(t, g, censored, 12, 7)
	require.Positive(t, table.Missing())
	gradient := func(method string) (mean, se []float64) {
		return meanSE(12, func(k int) []float64 {
			c := known(trainers.Config{Method: method, Draws: 5000, ProposalSD: 2, Seed: 1}, censored)
			_, grads, err := trainers.Gradient(table, at(t, g), losses.ObjectiveFor(c.Domain, c.Weight), c, k)
			require.NoError(t, err)
			return slices.Concat(grads...)
		})
	}
	want, wantSE := gradient("exact")
	for _, method := range []string{"iw", "variw"} {
		got, se := gradient(method)
		for i := range want { // twelve repeats: t(11) has its 1 − 1e−3 quantile at 4.03
			require.InDelta(t, want[i], got[i], 4.03*math.Hypot(se[i], wantSE[i])+1e-9, "%s, gradient %d", method, i)
			require.Less(t, se[i], 0.1, "no power")
		}
	}
}

// Imputed censored cells lie beyond the threshold whatever draws them.
func TestDrawsOfCensoredCells(t *testing.T) {
	g, _, censored := pair()
	table := hidden(t, g, censored, 200, 8)
	s := censored.Support(nil)
	for _, name := range []string{"iw", "var", "exact-mc"} {
		e, err := trainers.EstimatorByName(name)
		require.NoError(t, err)
		setting := trainers.Setting{Model: at(t, g), Imputer: nets.NewImputer(2, nets.Options{}, stream.New(1)), Batch: 200, Draws: 3, ProposalSD: 1, Domain: s}
		source, err := e.Source(setting)
		require.NoError(t, err)
		b := data.NewBatch(200, 2)
		rows := make([]int, 200)
		for i := range rows {
			rows[i] = i
		}
		b.Fill(table, rows, 1)
		x := make([]float64, 200*3*2)
		require.NoError(t, source.Complete(b, x, make([]float64, 600), new(stream.Stream).At(9)))
		gaps := 0
		for k := range 600 {
			mask := b.Mask[k/3*2 : k/3*2+2]
			if mask[0] == 0 {
				require.GreaterOrEqual(t, x[k*2], 1., name)
				gaps++
			}
			if mask[1] == 0 {
				require.LessOrEqual(t, x[k*2+1], -0.8, name)
				gaps++
			}
		}
		require.Greater(t, gaps, 100)
	}
}

// Every estimator takes φ, but those that need a normal conditional say why not.
func TestEveryEstimatorKnowsMissingness(t *testing.T) {
	g, logistic, censored := pair()
	table := hidden(t, g, logistic, 60, 9)
	cut := hidden(t, g, censored, 60, 9)
	complete, err := g.Sample(60, stream.New(1))
	require.NoError(t, err)
	gradient := func(e trainers.Estimator, table *data.Table, told *missingness.Model) ([]float64, error) {
		c := known(trainers.Config{Method: e.Name, Seed: 2}, told)
		_, grads, err := trainers.Gradient(table, at(t, g), losses.ObjectiveFor(c.Domain, c.Weight), c, 0)
		return slices.Concat(grads...), err
	}
	for _, e := range trainers.Estimators {
		t.Run(e.Name, func(t *testing.T) {
			seen, censoredSeen := table, cut
			if e.Complete {
				seen, censoredSeen = complete, within(t, g, censored)
			}
			with, err := gradient(e, seen, logistic)
			if e.Gaussian {
				require.ErrorContains(t, err, "with a model of missingness they are not; use iw, variw or var")
			} else {
				require.NoError(t, err)
				without, err := gradient(e, seen, nil)
				require.NoError(t, err)
				require.NotEqual(t, without, with)
			}
			_, err = gradient(e, censoredSeen, censored)
			if e.Name == "em-full" {
				require.ErrorContains(t, err, "censored cells lie beyond the bounds of those: use em")
				return
			}
			require.NoError(t, err)
		})
	}
}

// within is a table of rows none of whose cells is censored.
func within(t *testing.T, g data.Gaussian, by *missingness.Model) *data.Table {
	t.Helper()
	s := by.Support(nil)
	s.Gaps = nil
	table, err := g.SampleInside(s, 60, stream.New(1))
	require.NoError(t, err)
	return table
}

// A cut fit goes on only with the same missingness, and with the same bytes.
func TestResumingWithMissingness(t *testing.T) {
	g, logistic, _ := pair()
	table := hidden(t, g, logistic, 60, 10)
	fit := func(told *missingness.Model, s *trainers.State, cut bool) ([]float64, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		c := trainers.FitConfig{Config: known(trainers.Config{Method: "var", Batch: 20, Seed: 3}, told), Epochs: 4}
		c.Observe = func(p trainers.Progress) {
			if cut && p.Iteration == 5 {
				cancel()
			}
		}
		m := at(t, g)
		_, err := trainers.Fit(ctx, table, m, losses.Classical{}, c, s, nil)
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
	two, logistic, censored := pair()
	one := data.Gaussian{Mean: []float64{0.5}, Precision: mat.NewSymDense(1, []float64{0.8})}
	self := missingness.NewLogistic(1)
	self.Intercept[0] = 0.5
	self.Slope.Set(0, 0, -1.5)
	const replicates = 8
	for name, c := range map[string]struct {
		g      data.Gaussian
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
					table := hidden(t, c.g, c.by, 1000, 50, uint64(k))
					m := model.NewGaussian(len(c.g.Mean), model.CholeskyFactor)
					config := known(trainers.Config{Method: c.method, Batch: 250, Seed: uint64(k), ProposalSD: 1.5}, told)
					for _, rate := range []float64{0.05, 0.005} {
						_, err := trainers.Fit(context.Background(), table, m, losses.ObjectiveFor(config.Domain, config.Weight),
							trainers.FitConfig{Config: config, Epochs: 25, Rate: rate}, &trainers.State{}, nil)
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

// Gradients of models with missingness against differences, on all of R^d and censored.
func TestCheckWithMissingness(t *testing.T) {
	g, logistic, censored := pair()
	for name, by := range map[string]*missingness.Model{"logistic": logistic, "censored": censored} {
		t.Run(name, func(t *testing.T) {
			var m model.Model = model.NewGaussian(2, model.CholeskyFactor)
			if by.Logistic != nil {
				m = &model.Joint{Model: m, Missingness: model.NewLogisticMissingness(by.Logistic)}
			}
			results, err := trainers.Check(hidden(t, g, by, 40, 11), m, by.Support(nil), 20, 1)
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(results), 7)
			for _, r := range results {
				require.True(t, r.OK, "%+v", r)
			}
		})
	}
}

// A network's mean and precision in the table's own units, far from standard ones.
func TestNetworkNotAtRandom(t *testing.T) {
	g, logistic, censored := pair()
	const replicates = 6
	for name, by := range map[string]*missingness.Model{"logistic": logistic, "censored": censored} {
		t.Run(name, func(t *testing.T) {
			other := by.Standardised([]float64{-0.3, 1}, []float64{0.1, 2}) // of columns (x1 + 0.3)/0.1, (x2 − 1)/2
			z := func(known *missingness.Model) (worst float64) {
				errors := make([][]float64, 4)
				for k := range replicates {
					table := hidden(t, g, by, 500, 60, uint64(k))
					for i := 0; i < len(table.Values); i += 2 {
						table.Values[i], table.Values[i+1] = (table.Values[i]+0.3)/0.1, (table.Values[i+1]-1)/2
					}
					r, err := trainers.EstimateNetwork(context.Background(), table, trainers.NetworkConfig{
						PathConfig: trainers.PathConfig{Config: trainers.Config{Method: "iw", Seed: uint64(k), ProposalSD: 1.5}, Lambdas: 3, First: 100, Each: 100},
						Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9, Known: known, // the path alone
					}, &trainers.State{}, nil)
					require.NoError(t, err)
					require.Nil(t, r.Config.Domain, "where the data can lie has not changed")
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
