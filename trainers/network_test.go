package trainers_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// estimate is a network's, of a path's settings the defaults where none are given.
func estimate(t *testing.T, table *data.Table, s trainers.Spec) *trainers.Result {
	t.Helper()
	if s.Network == nil {
		s.Network = &regpath.Config{}
	}
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	return r
}

func TestPathGoesFromEmptyToDenseAndFindsTheStar(t *testing.T) {
	g, table := testtables.Star(t, 10, 500, 0.3)
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{Whole: true}})
	require.Equal(t, "em-exact", r.Spec.Steps.Method)
	n := r.Network
	require.Zero(t, n.Points[0].Edges)
	require.Greater(t, n.Points[len(n.Points)-1].Edges, 36, "of 45")
	require.Empty(t, r.Warnings)
	require.True(t, r.Converged, r.Verdict)
	rates, err := n.Rates(network.Threshold(g.Precision, 1e-12))
	require.NoError(t, err)
	require.Greater(t, network.AUC(rates), 0.95)
	cut := estimate(t, table, trainers.Spec{}).Network
	require.True(t, cut.Cut)
	require.Equal(t, n.Edges(), cut.Edges())
	_, err = cut.Rates(network.Threshold(g.Precision, 1e-12))
	require.ErrorContains(t, err, "set regpath.Config.Whole")
	for j := range 10 {
		for k := range 10 {
			require.Equal(t, n.Precision.At(j, k), n.Precision.At(k, j))
			if j < k && !n.Adjacency.Has(j, k) {
				// an edge is above the threshold; most others are exact zeros
				require.Less(t, math.Abs(n.Precision.At(j, k))*r.Model.Scale.Deviation[j]*r.Model.Scale.Deviation[k], 0.0021)
			}
		}
	}
	zeros := 0
	for _, v := range n.Points[10].Packed {
		if v == 0 {
			zeros++
		}
	}
	require.Greater(t, zeros, 20, "soft-thresholding gives exact zeros")
}

// Units: a column times 100 changes its mean and precision, and nothing else.
func TestUnitsComeBack(t *testing.T) {
	_, table := testtables.Star(t, 5, 300, 0.3)
	scaled := *table
	scaled.Values = append([]float64(nil), table.Values...)
	for i := range table.N {
		scaled.Values[i*5+1] = 100*scaled.Values[i*5+1] + 7
	}
	a, b := estimate(t, table, trainers.Spec{}).Network, estimate(t, &scaled, trainers.Spec{}).Network
	require.InDelta(t, a.Precision.At(0, 1), 100*b.Precision.At(0, 1), 1e-6)
	require.InDelta(t, a.Precision.At(1, 1), 1e4*b.Precision.At(1, 1), 1e-6)
	require.InDelta(t, a.Precision.At(0, 2), b.Precision.At(0, 2), 1e-8)
	require.InDelta(t, 100*a.Mean[1]+7, b.Mean[1], 1e-8)
	require.Equal(t, a.Adjacency, b.Adjacency)
}

// Without a penalty to speak of, Full goes to the inverse covariance: the
// minimum of tr(PSP) − 2 tr P.
func TestFullWithoutPenaltyIsTheInverseCovariance(t *testing.T) {
	rng := stream.New(4, 4)
	g, err := simulate.Dense(4, rng)
	require.NoError(t, err)
	table, err := g.Sample(400, rng)
	require.NoError(t, err)
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{
		Schedule: regpath.Fixed, LambdaMax: 1e-9, LambdaMin: 1e-9, Lambdas: 1, InitialIter: 3000, Rate: 0.04,
		Select: regpath.Selection{Kind: "none"}, Tolerance: 1e-6}}).Network
	standard, scale := data.Standardise(table)
	s := mat.NewSymDense(4, nil)
	s.SymOuterK(1/float64(table.N), mat.NewDense(table.N, 4, standard.Values).T())
	var chol mat.Cholesky
	require.True(t, chol.Factorize(s))
	var inverse mat.SymDense
	require.NoError(t, chol.InverseTo(&inverse))
	require.True(t, mat.EqualApprox(scale.Precision(&inverse), r.Precision, 1e-4), "%v\n%v", mat.Formatted(scale.Precision(&inverse)), mat.Formatted(r.Precision))
}

func TestZeroedStaysPositiveDefinite(t *testing.T) {
	_, table := testtables.Star(t, 15, 400, 0.5)
	r := estimate(t, table, trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Network: &regpath.Config{Select: regpath.Selection{Kind: "none"}}})
	for _, p := range r.Network.Points {
		m := model.NewGaussian(15, model.FreeSymmetric)
		copy(m.Packed.Value, p.Packed)
		var e mat.EigenSym
		require.True(t, e.Factorize(m.Precision(), false))
		require.Greater(t, e.Values(nil)[0], 0.9e-3)
	}
	require.True(t, r.Network.Points[len(r.Network.Points)-1].Stuck, "without the floor P would be indefinite here")
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "NOT converged")
	require.NotEmpty(t, r.Warnings)
}

func TestDivergenceStopsWithTheLastGoodState(t *testing.T) {
	_, table := testtables.Star(t, 5, 100, 0.3)
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{
		Steps: engine.Config{Method: "full"}, Network: &regpath.Config{Schedule: regpath.Fixed, Rate: 1e9}}, trainers.Run{})
	require.ErrorContains(t, err, "method full is for tables without missing cells; this one has")

	complete := *table
	complete.Observed = make([]bool, len(table.Observed))
	for i := range complete.Observed {
		complete.Observed[i] = true
	}
	var saved *trainers.State
	far := domain.All(table.D) // a half-space far from the rows: η = Pμ is fitted along, which nothing holds
	normal := make([]float64, table.D)
	normal[0] = 1
	far.Half = []domain.HalfSpace{{A: normal, B: 40}}
	_, err = trainers.Estimate(t.Context(), &complete, trainers.Spec{
		Domain: far, Steps: engine.Config{Method: "full"},
		Network: &regpath.Config{Schedule: regpath.Fixed, Rate: 1e9, InitialIter: 1, IterPerLambda: 1},
	}, trainers.Run{Save: func(s *trainers.State) error { saved = s; return nil }})
	var diverged *engine.DivergedError
	require.ErrorAs(t, err, &diverged)
	require.True(t, trainers.Diverged(err))
	require.ErrorContains(t, err, "was not finite at iteration")
	require.NotNil(t, saved)
	for _, v := range slices.Concat(saved.Engine.Model...) {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0))
	}
}

func TestWarnsOfDegenerateWeights(t *testing.T) {
	_, table := testtables.Star(t, 20, 200, 0.6)
	r := estimate(t, table, trainers.Spec{
		Steps: engine.Config{Method: "iw", ProposalSD: 4}, Network: &regpath.Config{InitialIter: 20, IterPerLambda: 1, Lambdas: 5}})
	require.Less(t, r.Network.Points[4].EffectiveSize, 1.6)
	require.Contains(t, r.Warnings[len(r.Warnings)-1], "importance weights are degenerate")
}

// Partial correlations of airquality by maximum likelihood: R 4.2.2, EM for the
// normal with missing cells written out in base R, 500 iterations. Score
// matching is another estimator, so near is all that can be asked: at n = 153 a
// partial correlation has the standard error 0.08.
func TestAirqualityIsNearMaximumLikelihood(t *testing.T) {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	for _, method := range []string{"exact", "iw"} {
		r := estimate(t, table, trainers.Spec{Steps: engine.Config{Method: method}, Network: &regpath.Config{Select: regpath.Selection{Kind: "none"}}}).Network
		want := map[[2]string]float64{
			{"Ozone", "Solar.R"}: 0.243, {"Ozone", "Wind"}: -0.420, {"Ozone", "Temp"}: 0.538,
			{"Solar.R", "Wind"}: 0.178, {"Solar.R", "Temp"}: 0.105, {"Wind", "Temp"}: -0.127,
		}
		require.Len(t, r.Network.Edges, 6)
		for _, e := range r.Network.Edges {
			require.InDelta(t, want[[2]string{e.From, e.To}], e.PartialCorrelation, 0.04, "%s: %s – %s", method, e.From, e.To)
		}
	}
}

// Without refinement the result is the path's point, in the table's units, and the same
// from a state taken up again.
func TestPathOnly(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.3)
	for _, method := range []string{"exact", "iw"} {
		c := trainers.Spec{
			Steps:     engine.Config{Method: method, Seed: 2},
			Network:   &regpath.Config{Schedule: regpath.Fixed, Lambdas: 4, InitialIter: 10, IterPerLambda: 5, Select: regpath.Selection{Kind: "none"}, PathOnly: true},
			KeepUnits: true,
		}
		state := &trainers.State{}
		r, err := trainers.Estimate(t.Context(), table, c, trainers.Run{State: state})
		require.NoError(t, err)
		require.Equal(t, "not refined: the result is the path's point at the chosen λ", r.Verdict)
		require.False(t, r.Converged)
		require.Equal(t, 10+4*5, state.Path.Iteration)
		require.Equal(t, graph.Unpack(5, r.Network.Points[r.Network.Chosen].Packed), r.Network.Precision)
		require.Equal(t, r.Network.Points[r.Network.Chosen].Loss, r.Loss)
		again, err := trainers.Estimate(t.Context(), table, c, trainers.Run{State: state})
		require.NoError(t, err)
		require.Equal(t, r.Network.Precision, again.Network.Precision)
		c.Network.PathOnly = false
		_, err = trainers.Estimate(t.Context(), table, c, trainers.Run{State: state})
		require.ErrorIs(t, err, trainers.ErrOtherRun)
	}
}

// done counts the finished parts of the rows.
func done(s *trainers.State) (n int) {
	for _, d := range s.Path.Resampled.Done {
		if d {
			n++
		}
	}
	return n
}

func TestResamplingFindsTheStarAndIsReproducible(t *testing.T) {
	g, table := testtables.Star(t, 10, 400, 0.3)
	for _, kind := range []string{"cv", "stars"} {
		for _, method := range []string{"exact", "iw"} {
			if kind == "stars" && method == "iw" {
				continue // twenty sampled paths are for the benchmarks
			}
			t.Run(kind+" "+method, func(t *testing.T) {
				// Equal edges enter a star together, an instability of half their share of the pairs.
				run := func(ctx context.Context, workers int, run trainers.Run) (*trainers.NetworkResult, error) {
					r, err := trainers.Estimate(ctx, table, trainers.Spec{
						Steps:   engine.Config{Method: method, Seed: 1, Draws: 4, Workers: workers},
						Network: &regpath.Config{Lambdas: 20, Select: regpath.Selection{Kind: kind, Beta: 0.15}},
					}, run)
					if err != nil {
						return nil, err
					}
					return r.Network, nil
				}
				r, err := run(context.Background(), 1, trainers.Run{})
				require.NoError(t, err)
				rate, err := network.Compare(network.Threshold(g.Precision, 1e-12), r.Adjacencies()[r.Chosen])
				require.NoError(t, err)
				require.Equal(t, 1.0, rate.TPR)
				require.Less(t, r.Chosen, len(r.Points)-1)
				require.Positive(t, r.Chosen)

				// Cut after the second part, taken up again by three workers: the same bytes.
				ctx, cancel := context.WithCancel(context.Background())
				var saved bytes.Buffer
				_, err = run(ctx, 1, trainers.Run{Save: func(s *trainers.State) error {
					if done(s) == 2 {
						cancel()
					}
					saved.Reset()
					return gob.NewEncoder(&saved).Encode(s)
				}})
				require.ErrorIs(t, err, context.Canceled)
				var again trainers.State
				require.NoError(t, gob.NewDecoder(&saved).Decode(&again))
				require.GreaterOrEqual(t, done(&again), 2)
				require.Less(t, done(&again), len(again.Path.Resampled.Done))
				q, err := run(context.Background(), 3, trainers.Run{State: &again})
				require.NoError(t, err)
				require.Equal(t, r.Chosen, q.Chosen)
				require.Equal(t, r.Scores, q.Scores)
				require.Equal(t, r.Precision, q.Precision)
			})
		}
	}
}

// A ridge path has no losses, its refit has one by every method, and a file.
func TestRidgeRefitsHaveALoss(t *testing.T) {
	_, table := testtables.Normal(t, 40, 3)
	for _, e := range estimator.All {
		if e.NeedsOrdinal() || e.NeedsCompleteRows() || e.OfMatrix() {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			r := estimate(t, table, trainers.Spec{
				Steps:   engine.Config{Method: e.Name, Draws: 2, ImputerSteps: 1},
				Network: &regpath.Config{Penalty: regpath.Penalty{Kind: "ridge"}, Lambdas: 3, RefineIter: 50},
			})
			require.True(t, engine.Finite(r.Loss))
			_, err := r.Encode()
			require.NoError(t, err)
		})
	}
}

// The library does not leave out a column that others determine: it marks the result.
func TestANetworkOfACopyIsNotReliable(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.1)
	for i := range table.N {
		table.Values[i*5+4], table.Observed[i*5+4] = 2*table.Values[i*5]-1, table.Observed[i*5]
	}
	r := estimate(t, table, trainers.Spec{})
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "NOT reliable: x5 ≈ 2 x1 − 1 (exact but for rounding); there is no network of columns that determine each other: leave one of them out.")
	require.False(t, r.Model.Outcome.Converged)
	require.Contains(t, r.Warnings, "the criterion finds no edge among the few networks before the path ends: it has not seen denser ones")
}
