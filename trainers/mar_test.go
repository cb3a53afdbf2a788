package trainers_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// hiddenWhereLow is x → y → z with y hidden where x < 0: the mean of y is 0, its observed
// mean about 0.9, and x and z are not joined.
func hiddenWhereLow(n int) *data.Table {
	rng := stream.New(11, 3)
	table := &data.Table{Names: []string{"x", "y", "z"}, N: n, D: 3}
	for range n {
		x := rng.NormFloat64()
		y := 1.155*x + rng.NormFloat64()
		z := 1.155*y + rng.NormFloat64()
		if x < 0 {
			y = math.NaN()
		}
		table.Values = append(table.Values, x, y, z)
		table.Observed = append(table.Observed, true, x >= 0, true)
	}
	return table
}

// maximumLikelihood is the precision of greatest likelihood where only y has gaps: then
// p(x, z) is estimated from all rows and p(y | x, z) from the complete ones (Anderson 1957),
//
//	P = [S_xz⁻¹ + ββᵀ/s², −β/s²; −βᵀ/s², 1/s²]
func maximumLikelihood(t *testing.T, table *data.Table) *mat.SymDense {
	outer := mat.NewDense(table.N, 2, nil)
	var design, y []float64
	for i := range table.N {
		row := table.Values[3*i : 3*i+3]
		outer.SetRow(i, []float64{row[0], row[2]})
		if table.Observed[3*i+1] {
			design, y = append(design, 1, row[0], row[2]), append(y, row[1])
		}
	}
	var beta, residual mat.VecDense
	x := mat.NewDense(len(y), 3, design)
	require.NoError(t, beta.SolveVec(x, mat.NewVecDense(len(y), y)))
	residual.MulVec(x, &beta)
	residual.SubVec(mat.NewVecDense(len(y), y), &residual)
	s2 := mat.Dot(&residual, &residual) / float64(len(y))
	var s mat.SymDense
	stat.CovarianceMatrix(&s, outer, nil)
	s.ScaleSym(float64(table.N-1)/float64(table.N), &s)
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(&s))
	b, c := beta.AtVec(1), beta.AtVec(2)
	return mat.NewSymDense(3, []float64{
		inverse.At(0, 0) + b*b/s2, -b / s2, inverse.At(0, 1) + b*c/s2,
		0, 1 / s2, -c / s2,
		0, 0, inverse.At(1, 1) + c*c/s2})
}

func partialCorrelation(p mat.Symmetric, j, k int) float64 {
	return -p.At(j, k) / math.Sqrt(p.At(j, j)*p.At(k, k))
}

// Under MAR em-exact without a penalty is maximum likelihood, and the marginal loss is biased.
func TestMissingAtRandom(t *testing.T) {
	table := hiddenWhereLow(4000)
	estimate := func(method string, c regpath.Config) mat.Symmetric {
		c.Select, c.LambdaMin = regpath.Selection{Kind: "none"}, 1e-5
		r, err := trainers.Estimate(context.Background(), table, trainers.Spec{
			Steps: engine.Config{Method: method, Seed: 1}, Network: &c}, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		return r.Network.Precision
	}
	want, got := maximumLikelihood(t, table), estimate("em-exact", regpath.Config{Tolerance: 1e-7, Refit: new(true)})
	for j := range 3 {
		for k := range j {
			require.InDelta(t, partialCorrelation(want, j, k), partialCorrelation(got, j, k), 1e-6)
		}
		require.InEpsilon(t, want.At(j, j), got.At(j, j), 1e-6)
	}
	const rho = 1.155 / (1 + 1.155*1.155) // the truth; its standard error (1 − ρ²)/√n, 2000 complete rows, four times
	require.InDelta(t, rho, partialCorrelation(want, 0, 1), 4*(1-rho*rho)/math.Sqrt(2000))
	marginal := estimate("exact", regpath.Config{})
	require.Less(t, partialCorrelation(marginal, 0, 1), 0.4)
	require.Greater(t, partialCorrelation(marginal, 0, 2), 0.2)
}

// The likelihood of a real table has its maximum where R's lavaan 0.6-14 puts it
// (lav_mvnorm_missing_h1_estimate_moments, tol 1e-14, R 4.2.2) and 30 turns of a plain EM
// algorithm in base R: by a fit, and by a network with all edges, refitted.
func TestMaximumLikelihoodOfAirQuality(t *testing.T) {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	for name, s := range map[string]trainers.Spec{
		"fit":     {},
		"network": {Network: &regpath.Config{Select: regpath.Selection{Kind: "none"}, Tolerance: 1e-8, Refit: new(true)}},
	} {
		s.Steps.Method = "em-exact"
		r, err := trainers.Estimate(context.Background(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		m := r.Model.Model.(*model.Gaussian)
		require.InEpsilonSlice(t, []float64{41.87117301959793, 184.84680624984503, 9.95751633986928, 77.88235294117646}, m.Mean(), 1e-8, name)
		for at, want := range map[[2]int]float64{{0, 1}: 0.243185474455124, {0, 2}: -0.420068166088964, {0, 3}: 0.537797610044597,
			{1, 2}: 0.178086106761174, {1, 3}: 0.104527350308330, {2, 3}: -0.127407159724551} {
			require.InDelta(t, want, partialCorrelation(m.Precision(), at[0], at[1]), 1e-8, name)
		}
		for j, want := range []float64{0.00228663662883047, 0.000143659603080790, 0.125550040778976746, 0.021808389457865333} {
			require.InEpsilon(t, want, m.Precision().At(j, j), 1e-8, name)
		}
	}
}

// A fit by turns that is cut after each of them ends as one that is not, byte for byte, on
// a table of few rows, too.
func TestTurnsOfAFitAreTakenUpAgain(t *testing.T) {
	_, table := testtables.Star(t, 4, 62, 0.3)
	spec := trainers.Spec{Steps: engine.Config{Method: "em-exact", Workers: 2, Batch: 20}}
	whole, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
	require.NoError(t, err)
	require.True(t, whole.Converged, whole.Verdict)
	require.Greater(t, len(whole.History), 3)
	for i, h := range whole.History[1:] { // the likelihood rises, but where the acceleration goes astray
		require.Greater(t, h.Likelihood, whole.History[i].Likelihood-1e-3)
	}
	state, cuts := &trainers.State{}, 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := trainers.Estimate(ctx, table, spec, trainers.Run{State: state, Save: func(*trainers.State) error { cancel(); return nil }})
		cancel()
		if err == nil {
			require.Equal(t, whole.Model.Model, r.Model.Model)
			require.Equal(t, fmt.Sprint(whole.History), fmt.Sprint(r.History)) // NaN is not NaN
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		cuts++
		require.Less(t, cuts, 1000)
	}
	require.Greater(t, cuts, 3)
}
