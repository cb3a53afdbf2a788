package trainers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/network"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

func estimate(t *testing.T, table *data.Table, s trainers.Spec, run ...trainers.Run) *trainers.Result {
	t.Helper()
	r, err := trainers.Estimate(t.Context(), table, s, append(run, trainers.Run{})[0])
	require.NoError(t, err)
	return r
}

func prepare(t *testing.T, table *data.Table, s trainers.Spec) *trainers.Prepared {
	t.Helper()
	p, err := trainers.Prepare(table, s)
	require.NoError(t, err)
	return p
}

func TestPathGoesFromEmptyToDenseAndFindsTheStar(t *testing.T) {
	g, table := testtables.Star(t, 10, 500, 0.3)
	truth, plain := network.Threshold(g.Precision, 1e-12), regpath.Penalty{Kind: "l1"}
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{Whole: true, Penalty: plain}})
	require.Equal(t, "em-exact", r.Spec.Steps.Method)
	n := r.Network
	require.Zero(t, n.Points[0].Edges)
	require.Greater(t, n.Points[len(n.Points)-1].Edges, 36, "of 45")
	require.Empty(t, r.Warnings)
	require.True(t, r.Converged, r.Verdict)
	rates, err := n.Rates(truth)
	require.NoError(t, err)
	require.Greater(t, network.AUC(rates), 0.95)
	cut := estimate(t, table, trainers.Spec{Network: &regpath.Config{Penalty: plain}}).Network
	require.True(t, cut.Cut)
	require.Equal(t, n.Edges(), cut.Edges())
	_, err = cut.Rates(truth)
	require.ErrorContains(t, err, "set regpath.Config.Whole")
}

func TestDivergenceStopsWithTheLastGoodState(t *testing.T) {
	_, table := testtables.Star(t, 5, 100, 0)
	var saved *trainers.State
	far := domain.All(5) // a half-space far from the rows: η = Pμ is fitted, without an effect of the domain
	far.Half = []domain.HalfSpace{{A: []float64{1, 0, 0, 0, 0}, B: 40}}
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{
		Domain: far, Steps: engine.Config{Method: "full"},
		Network: &regpath.Config{Schedule: regpath.Fixed, Rate: 1e9, InitialIter: 1, IterPerLambda: 1},
	}, trainers.Run{Save: func(s *trainers.State) error { saved = s; return nil }})
	var diverged *engine.DivergedError
	require.ErrorAs(t, err, &diverged)
	require.True(t, trainers.Diverged(err))
	require.ErrorContains(t, err, "was not finite at iteration")
	require.NotNil(t, saved)
	require.True(t, engine.Finite(slices.Concat(saved.Engine.Model...)...))
}

func TestWarnsOfDegenerateWeights(t *testing.T) {
	_, table := testtables.Star(t, 20, 200, 0.6)
	r := estimate(t, table, trainers.Spec{
		Steps: engine.Config{Method: "iw", ProposalSD: 4}, Network: &regpath.Config{InitialIter: 20, IterPerLambda: 1, Lambdas: 5}})
	require.Less(t, r.Network.Points[4].EffectiveSize, 1.6)
	require.Contains(t, r.Warnings[len(r.Warnings)-1], "importance weights are degenerate")
}

func TestANetworkOfACopyIsNotReliable(t *testing.T) {
	_, table := testtables.Star(t, 5, 200, 0.1)
	for i := range table.N {
		table.Values[i*5+4], table.Observed[i*5+4] = 2*table.Values[i*5]-1, table.Observed[i*5]
	}
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{}})
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "NOT reliable: x5 ≈ 2 x1 − 1 (exact up to rounding); collinear columns have no network: leave one of them out.")
	require.False(t, r.Model.Outcome.Converged)
	require.Contains(t, r.Warnings, "the criterion finds no edge before the path ends; it has not seen denser networks")
}

func TestPairwiseOfManyColumns(t *testing.T) {
	const n, d = 150, regpath.DenseColumns + 10
	rng := stream.New(1, stream.Simulate)
	table := &data.Table{N: n, D: d}
	for j := range d {
		table.Names = append(table.Names, fmt.Sprintf("c%03d", j))
	}
	for range n {
		before := 0.0
		for range d {
			before = 0.6*before + 0.8*rng.NormFloat64()
			table.Values, table.Observed = append(table.Values, before), append(table.Observed, true)
		}
	}
	table = testtables.Must(data.HideMCAR(table, 0.1, stream.New(1, stream.Hide)))
	want := estimate(t, table, trainers.Spec{
		Steps: engine.Config{Method: "pairwise", Workers: 2}, Network: &regpath.Config{Lambdas: 10},
	})
	require.True(t, want.Converged, want.Verdict)
	right := 0.0
	for j := range d - 1 {
		if want.Network.Adjacency.Has(j, j+1) {
			right++
		}
	}
	require.Greater(t, right, 0.9*(d-1))
	require.Less(t, float64(len(want.Network.Edges())), 1.15*(d-1))
	require.Contains(t, want.Network.Moments, "the path shrinks all correlations by")
	require.Equal(t, want.Network.Moments, want.Model.Outcome.Moments)
}

// Without a penalty partial correlations given covariates are those of the residuals of linear
// regressions on them. R 4.2.2: x <- airquality[complete.cases(airquality), ]; e <-
// residuals(lm(cbind(Ozone, Solar.R, Wind, Temp) ~ Month + Day, x)); -cov2cor(solve(cov(e)))
func TestCovariatesAgainstResiduals(t *testing.T) {
	table := testtables.Must(data.ReadCSV("../examples/airquality.csv", data.ReadOptions{}))
	table = testtables.Must(table.CompleteRows())
	covariates := []string{"Month", "Day"}
	want := mat.NewSymDense(4, []float64{
		1, 0.2050514550802482, -0.4489786416815071, 0.5597558445813821,
		0, 1, 0.1142751241501182, 0.1494291958820297,
		0, 0, 1, -0.0798809266373098,
		0, 0, 0, 1,
	})
	for _, method := range []string{"full", "em-exact", "exact", "pairwise"} {
		r := estimate(t, table, trainers.Spec{Steps: engine.Config{Method: method}, Network: &regpath.Config{
			Covariates: covariates, Select: regpath.Selection{Kind: "none"}, Refit: new(true), Tolerance: 1e-11,
			StopTol: 1e-3, Threshold: 1e-5, LambdaMin: 1e-7, Lambdas: 10, Penalty: regpath.Penalty{Kind: "l1"},
		}})
		n := r.Network
		require.Equal(t, []string{"Ozone", "Solar.R", "Wind", "Temp"}, n.Names, method)
		require.Equal(t, covariates, n.Covariates)
		require.Len(t, n.Edges(), 6, method)
		for j := range 4 {
			for k := range j {
				require.InDelta(t, want.At(j, k), partialCorrelation(n.Precision, j, k), 1e-8, method)
			}
		}
		require.Equal(t, slices.Concat(n.Names, covariates), r.Model.Names)
	}
}

func bootstrapOf(resamples int) trainers.Spec {
	return trainers.Spec{
		Network: &regpath.Config{}, Steps: engine.Config{Seed: 5, Workers: 2},
		Inference: inference.Config{Kind: "bootstrap", Resamples: resamples},
	}
}

// To the first order in 1/n the bootstrap variance of r is the mean of u_i²/n (Efron & Tibshirani
// 1993, chapter 21), u_i = z_i1 z_i2 − r (z_i1² + z_i2²)/2, z standardised; B resamples have a
// relative error of 1/√(2(B − 1)).
func TestBootstrapOfACorrelation(t *testing.T) {
	const n, resamples = 200, 120
	rng := stream.New(8, 1)
	values := make([]float64, 0, 2*n)
	for range n {
		x := rng.NormFloat64()
		values = append(values, x, 0.5*x+math.Sqrt(0.75)*rng.NormFloat64())
	}
	table := testtables.Must(data.NewTable([]string{"a", "b"}, values, nil))
	r := estimate(t, table, bootstrapOf(resamples))
	require.True(t, r.Converged, r.Verdict)
	u := r.Network.Network.Pairs[0].Uncertainty
	a, b := table.Column(0), table.Column(1)
	correlation := stat.Correlation(a, b, nil)
	require.InDelta(t, correlation, u.Estimate, 1e-3)
	meanA, varA := stat.PopMeanVariance(a, nil)
	meanB, varB := stat.PopMeanVariance(b, nil)
	variance := 0.0
	for i := range n {
		x, y := (a[i]-meanA)/math.Sqrt(varA), (b[i]-meanB)/math.Sqrt(varB)
		influence := x*y - correlation*(x*x+y*y)/2
		variance += influence * influence / n / n
	}
	se := math.Sqrt(variance)
	require.InDelta(t, se, u.SE, (4/math.Sqrt(2*(resamples-1))+10./n)*se)
	// The quantile 0.025 of B normal draws has the standard error √(q(1−q)/B)/φ = 2.7 se/√B.
	quantile := 1.96*se + 4*2.7*se/math.Sqrt(resamples)
	require.InDelta(t, correlation-1.96*se, u.Low, quantile-1.96*se)
	require.InDelta(t, correlation+1.96*se, u.High, quantile-1.96*se)
	require.Equal(t, 1., u.Inclusion)
	require.Equal(t, 1., u.SameSign)
	require.Equal(t, n, u.Rows)
	require.True(t, math.IsNaN(u.P))
	require.Empty(t, r.Warnings)
}

func TestFailedResamples(t *testing.T) {
	for together, share := range map[int]float64{4: 0.016, 1: 0.36} { // rows with columns 0 and 1, and the probability of a resample without them
		_, table := testtables.Star(t, 3, 60, 0)
		for i := range table.N - together {
			table.Observed[i*table.D+i%2] = false
		}
		s := bootstrapOf(100)
		s.Network.Lambdas = 6
		r := estimate(t, table, s)
		told := r.Warnings[len(r.Warnings)-1]
		require.Contains(t, told, "of 100 resamples failed; the first, number ")
		require.Contains(t, told, ": x1 and x2 are never observed in the same row")
		var failed int
		_, err := fmt.Sscanf(told, "%d of", &failed)
		require.NoError(t, err)
		require.InDelta(t, 100*share, failed, 40*math.Sqrt(share*(1-share))+5) // a few fail for other reasons
		require.Contains(t, r.Network.Inference.Rests, fmt.Sprintf("repeated on %d tables", 100-failed))
		require.Equal(t, together == 4, r.Converged, r.Verdict)
		if together == 1 {
			require.Contains(t, r.Verdict, "NOT reliable: "+told)
		}
	}
}

func TestBootstrapInShards(t *testing.T) {
	_, table := testtables.Star(t, 4, 80, 0.3)
	spec := bootstrapOf(6)
	spec.Network.Lambdas, spec.Inference.Stability = 8, 10
	whole := estimate(t, table, spec)
	require.NotNil(t, whole.Network.Stability)
	joined := &trainers.State{}
	for i := range 3 {
		state := &trainers.State{}
		r := estimate(t, table, spec, trainers.Run{State: state, Shard: inference.Shard{I: 3 - i, N: 3}})
		require.Nil(t, r.Network.Inference)
		require.Nil(t, r.Network.Stability)
		if i == 0 {
			joined = state
		} else {
			require.NoError(t, joined.Join(state))
		}
		require.Len(t, joined.Inference.Left(spec.Inference), []int{11, 6, 0}[i])
	}
	r := estimate(t, table, spec, trainers.Run{State: joined})
	require.Equal(t, whole.Network.Stability, r.Network.Stability)
	require.Equal(t, fmt.Sprint(whole.Network.Network.Pairs[0].Uncertainty), fmt.Sprint(r.Network.Network.Pairs[0].Uncertainty)) // NaN included

	spec.Steps.Seed++
	other := &trainers.State{}
	estimate(t, table, spec, trainers.Run{State: other, Shard: inference.Shard{I: 1, N: 3}})
	require.ErrorIs(t, joined.Join(other), trainers.ErrOtherRun)
}

// income depends on all others, so each pair of them is an edge; 20 % of the cells are missing.
func TestStrongRelationsWithLevelsAndGaps(t *testing.T) {
	rng, table := stream.New(1, stream.Simulate), &data.Table{N: 140, D: 4, Names: []string{"age", "city", "kids", "income"}}
	for range table.N {
		age, city, kids := rng.NormFloat64(), float64(rng.IntN(3)), rng.NormFloat64()
		table.Values = append(table.Values, age, city, kids, age+kids+1.5*(city-1)+0.5*rng.NormFloat64())
	}
	for k := range table.Values {
		if table.Observed = append(table.Observed, rng.Float64() > 0.2); !table.Observed[k] {
			table.Values[k] = 0
		}
	}
	table.Kinds = []data.Kind{data.Number, data.Nominal, data.Number, data.Number}
	table.Levels = [][]string{nil, {"Bern", "Oslo", "Rome"}, nil, nil}
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{}})
	require.Equal(t, "em-latent", r.Spec.Steps.Method)
	require.Equal(t, 6, r.Network.Adjacency.Count())
}
