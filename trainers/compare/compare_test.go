package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/replicate"
)

func unpenalised(*data.Table) trainers.Spec {
	return trainers.Spec{
		Steps:   engine.Config{Method: "em-exact", Seed: 1},
		Network: &regpath.Config{LambdaMax: 1e-9, LambdaMin: 1e-9, Lambdas: 1, Threshold: 1e-12, Tolerance: 1e-9, Select: regpath.Selection{Kind: "none"}, Refit: new(true)},
	}
}

func problem(t testing.TB, a, b *data.Table, spec func(*data.Table) trainers.Spec) Problem {
	p := Problem{Tables: [2]*data.Table{a, b}, Spec: spec}
	for i, table := range p.Tables {
		var err error
		p.Networks[i], err = trainers.Estimate(context.Background(), table, spec(table), trainers.Run{})
		require.NoError(t, err)
	}
	return p
}

func compared(t *testing.T, p Problem, c Config, workers int) *Result {
	r, err := Compare(t.Context(), p, c, replicate.Config{Workers: workers}, replicate.NewDone[Permutation](""))
	require.NoError(t, err)
	return r
}

// New York 1973, days without a gap, before July and after, by R 4.2.2:
//
//	x <- na.omit(airquality[, 1:5]); g <- x$Month > 6; x <- as.matrix(x[, 1:4])
//	pcor <- function(x) { p <- -cov2cor(solve(cov(x))); p[upper.tri(p)] }
//	stat <- function(g) { a <- pcor(x[!g, ]); b <- pcor(x[g, ])
//	  c(max(abs(a - b)), abs(sum(abs(a)) - sum(abs(b))), abs(a - b)) }
//	set.seed(1); null <- replicate(9999, stat(sample(g)))
//	(1 + rowSums(null >= stat(g))) / (1 + 9999)
func TestUnpenalisedAgainstR(t *testing.T) {
	table, err := data.ReadCSV("../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp", "Month"}})
	require.NoError(t, err)
	table = testtables.Must(table.CompleteRows())
	groups := map[bool][]int{} // by whether the month is after June
	for i, month := range table.Column(4) {
		groups[month > 6] = append(groups[month > 6], i)
	}
	table = testtables.Must(table.Select(table.Names[:4]))
	a := testtables.Must(table.Rows(groups[false]))
	b := testtables.Must(table.Rows(groups[true]))
	const n = 299
	r := compared(t, problem(t, a, b, unpenalised), Config{Permutations: n, Seed: 6}, 2)
	require.InDelta(t, 0.276195385532003, r.Structure.Observed, 1e-8)
	require.InDelta(t, 0.381640724226394, r.Strength.Observed, 1e-8)
	byR := []float64{-0.1583351124558849, 0.2761953855320026, -0.0619485295850291, -0.0449658408260066, 0.2644129278070543, 0.1046087836345253}
	p := []float64{0.3327, 0.0992, 0.7663, 0.8506, 0.2602, 0.6329}
	near := func(want, got float64) {
		t.Helper()
		require.InDelta(t, want, got, 4*math.Sqrt(want*(1-want)/n))
	}
	near(0.5971, r.Structure.P)
	near(0.2734, r.Strength.P)
	for i, d := range r.Pairs {
		require.InDelta(t, byR[i], d.Value, 1e-8)
		require.Equal(t, d.Value, d.Weights[0]-d.Weights[1])
		near(p[i], d.P)
		require.Equal(t, d.P <= 0.05, d.Low > 0 || d.High < 0)
	}
	require.InDelta(t, r.Strengths[0]-r.Strengths[1], math.Copysign(r.Strength.Observed, r.Strengths[0]-r.Strengths[1]), 0)
	require.Empty(t, r.Warnings)
}

func TestPValue(t *testing.T) {
	null := []float64{0.1, 0.5, 0.3, 0.5 * (1 - 1e-12), 0.7}
	require.InDelta(t, 4.0/6, pValue(0.5, null), 1e-15)
	require.InDelta(t, 1.0/6, pValue(0.8, null), 1e-15)
	require.Equal(t, 1.0, pValue(0, null))
}

func TestRadius(t *testing.T) {
	sizes := make([]float64, 39)
	for i := range sizes {
		sizes[i] = float64((i*17)%39) / 100
	}
	require.Equal(t, 0.37, radius(sizes, 0.95), "the second largest of 39")
	for _, v := range []float64{0.35, 0.36, 0.365, 0.371, 0.375, 0.38, 0.4} {
		require.Equal(t, pValue(v, sizes) <= 0.05, v > radius(sizes, 0.95), "%v", v)
	}
	require.True(t, math.IsNaN(radius(make([]float64, 39), 0.95)), "never an edge")
	require.True(t, math.IsNaN(radius(sizes[:18], 0.95)))
	require.False(t, math.IsNaN(radius(sizes[:19], 0.95)))
}

// By R 4.2.2, z <- atanh(c(r1, r2)), s <- c(se1, se2)/(1 - c(r1, r2)^2), l and h their
// tanh(z -+ qnorm(.975) s): 2*pnorm(-abs(diff(z))/sqrt(sum(s^2))), and Zou's interval.
func TestBetweenAgainstR(t *testing.T) {
	for _, c := range [][7]float64{{0.5, 0.06, 0.1, 0.09, 0.18688239676387858, 0.60805197279239098, 0.00020928823116101}, {-0.7, 0.05, 0.3, 0.1, -1.20058671450553, -0.765569979141687, 1.33769230022164e-15}} {
		e := between(inference.Normal(c[0], c[1], 0.95, 9), inference.Normal(c[2], c[3], 0.95, 9))
		require.InDelta(t, c[0]-c[2], e.Value, 1e-15)
		require.InDelta(t, c[4], e.Low, 1e-12)
		require.InDelta(t, c[5], e.High, 1e-12)
		require.InEpsilon(t, c[6], e.P, 1e-9)
		other := between(inference.Normal(c[2], c[3], 0.95, 9), inference.Normal(c[0], c[1], 0.95, 9))
		require.InDelta(t, -e.High, other.Low, 1e-15)
	}
	none := between(network.Unknown(3), inference.Normal(0.1, 0.1, 0.95, 9))
	require.True(t, math.IsNaN(none.Value) && math.IsNaN(none.P) && math.IsNaN(none.Low))
	resampled := inference.Normal(0.1, 0.1, 0.95, 9)
	resampled.SE = math.NaN()
	e := between(resampled, inference.Normal(0.3, 0.1, 0.95, 9))
	require.True(t, math.IsNaN(e.P))
	require.False(t, math.IsNaN(e.Low), "an interval needs those of the two only")
}

// N(0, P⁻¹) with partial correlations r of columns 1 and 2, s of 2 and 3.
func chained(t testing.TB, n int, r, s, missing float64, seed uint64) *data.Table {
	p := mat.NewSymDense(4, []float64{1, -r, 0, 0, -r, 1, -s, 0, 0, -s, 1, 0, 0, 0, 0, 1})
	g := simulate.Gaussian{Mean: make([]float64, 4), Precision: p}
	return testtables.Sampled(t, g, nil, n, missing, stream.New(seed, stream.Simulate))
}

func TestEstimates(t *testing.T) {
	p := problem(t, chained(t, 60, 0.4, 0, 0, 1), chained(t, 60, 0, 0, 0, 2), unpenalised)
	for i, r := range p.Networks {
		var u []network.Uncertainty
		for k := range 6 {
			u = append(u, inference.Normal(0.1*float64(k*(1-i)), 0.1, 0.95, 60))
		}
		r.Network.Network.SetUncertainty(r.Network.Precision, u)
	}
	r := compared(t, p, Config{Permutations: 3}, 1)
	require.InDelta(t, 0.5, r.Pairs[5].Estimates.Value, 1e-15)
	require.Less(t, r.Pairs[5].Estimates.P, 0.01)
	require.InDelta(t, 6*r.Pairs[5].Estimates.P, r.Pairs[5].Estimates.Q, 1e-12)
	require.True(t, math.IsNaN(r.Pairs[0].Low), "too few permutations for an interval")
	require.Equal(t, 1.0, r.Pairs[0].Estimates.P)
}

func TestFailedPermutations(t *testing.T) {
	table := func(seed uint64) *data.Table {
		full := chained(t, 12, 0.4, 0, 0, seed)
		for i := range full.N {
			full.Values[4*i+3] = 0
		}
		full.Values[3] = 1
		return full
	}
	r := compared(t, problem(t, table(1), table(2), unpenalised), Config{Permutations: 40}, 2)
	require.InDelta(t, 40*11.0/23, float64(r.Failed), 4*math.Sqrt(40*11.0/23*12/23))
	require.Len(t, r.Warnings, 1)
	require.Regexp(t, `^\d+ of 40 permutations failed and are left out of p values; the first failure: .*x4.*constant`, r.Warnings[0])
	good := float64(41 - r.Failed)
	require.InDelta(t, math.Round(r.Structure.P*good), r.Structure.P*good, 1e-9)
}

func TestGapWarnings(t *testing.T) {
	r := Result{Gaps: []mcar.Share{{Name: "a", Missing: [2]int{1, 30}, Rows: [2]int{50, 50}, P: 0.001, Corrected: 0.002}, {Name: "b", P: 0.5, Corrected: 0.5}, {Name: "c", P: 0.01, Corrected: 0.01}}}
	require.Len(t, r.gapWarnings(), 1)
	require.Contains(t, r.gapWarnings()[0], "WARNING: missing cells differ between the groups: a is missing in 2 % and 60 % of the rows (p 0.002), and 1 more columns differ. Permutation p values then test rows and missing cells together")
	require.Contains(t, r.gapWarnings()[0], "not the networks alone: compare estimates by their standard errors with Spec.Inference model or robust")
	r.Pairs = []Difference{{Estimates: &Estimates{}}}
	require.Contains(t, r.gapWarnings()[0], "not the networks alone: rely on the comparison of estimates instead")
	require.Empty(t, (&Result{Gaps: r.Gaps[1:2]}).gapWarnings())
}

// Cut and resumed, with other numbers of workers.
func TestWorkersAndResuming(t *testing.T) {
	spec := func(*data.Table) trainers.Spec {
		return trainers.Spec{Steps: engine.Config{Method: "em-exact", Seed: 1}, Network: &regpath.Config{Lambdas: 8}}
	}
	p := problem(t, chained(t, 50, 0.4, 0.3, 0.2, 1), chained(t, 40, 0, 0.3, 0.1, 2), spec)
	c := Config{Permutations: 19, Seed: 3}
	whole := compared(t, p, c, 3)
	of, err := p.Identity(c)
	require.NoError(t, err)
	// A run can go on to more permutations.
	for other, same := range map[Config]bool{{Permutations: 30, Seed: 3}: true, {Permutations: 19, Seed: 4}: false} {
		name, err := p.Identity(other)
		require.NoError(t, err)
		require.Equal(t, same, of == name)
	}
	done, workers := replicate.NewDone[Permutation](of), 0
	var again *Result
	testtables.Resumed(t, func(ctx context.Context, save func() error) (err error) {
		workers = workers%3 + 1
		again, err = Compare(ctx, p, c, replicate.Config{Workers: workers, Save: save}, done)
		return err
	})
	require.Equal(t, fmt.Sprintf("%+v", whole), fmt.Sprintf("%+v", again)) // NaN differs from itself

	other := replicate.NewDone[Permutation](of)
	for k := range c.Permutations {
		other.Put(k, Permutation{Differences: []float64{0.5}})
	}
	_, err = Compare(t.Context(), p, c, replicate.Config{}, other)
	require.ErrorIs(t, err, replicate.ErrOtherRun, "permutations of other columns")
}

// A number x, a nominal column, whose level goes with x by effect, and a yes or no.
func grouped(t *testing.T, effect float64, seed uint64) *data.Table {
	rng := stream.New(seed)
	var values []float64
	for range 200 {
		x := rng.NormFloat64()
		level := floats.MaxIdx([]float64{0, effect*x + rng.NormFloat64(), -effect*x + rng.NormFloat64()})
		yes := floats.MaxIdx([]float64{0, x + rng.NormFloat64()})
		values = append(values, x, float64(level), float64(yes))
	}
	table := testtables.Must(data.NewTable([]string{"x", "home", "ill"}, values, nil))
	table.Kinds = []data.Kind{data.Number, data.Nominal, data.Binary}
	table.Levels = [][]string{nil, {"flat", "house", "tent"}, {"no", "yes"}}
	table = testtables.Must(data.HideMCAR(table, 0.05, rng))
	return table
}

func TestNominalColumns(t *testing.T) {
	latent := func(*data.Table) trainers.Spec {
		path := regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}, Lambdas: 20}
		return trainers.Spec{Steps: engine.Config{Method: "auto", Seed: 1}, Network: &path}
	}
	p := problem(t, grouped(t, 1.5, 1), grouped(t, 0, 2), latent)
	require.Equal(t, "em-latent", p.Networks[0].Estimator.Name)
	r := compared(t, p, Config{Permutations: 19, Seed: 3}, 2)
	require.Zero(t, r.Failed)
	home, ill := r.Pairs[0], r.Pairs[1]
	require.Equal(t, [2]string{"x", "home"}, [2]string{home.From, home.To})
	require.Greater(t, home.Value, 0.3)
	require.Equal(t, 0.05, home.P)
	require.Greater(t, min(ill.Weights[0], ill.Weights[1]), 0.2, "more x, more of yes")

	weights := []float64{-0.5, -0.25, -0.75}
	unsigned(p.Tables[0], weights)
	require.Equal(t, []float64{0.5, -0.25, 0.75}, weights)
}

func TestWriteDifferences(t *testing.T) {
	r := Result{Pairs: []Difference{
		{From: "a", To: "b,c", Weights: [2]float64{0.5, -0.25}, Value: 0.75, Low: 0.25, High: 1.25, P: 0.01, Q: 0.02},
		{From: "a", To: "d", Low: math.NaN(), High: math.NaN(), P: 1, Q: 1},
	}}
	var text strings.Builder
	require.NoError(t, r.WriteDifferences(&text, [2]string{"sex f", "sex m"}))
	require.Equal(t, "from,to,group_a,group_b,partial_correlation_a,partial_correlation_b,difference,low,high,p,q\na,\"b,c\",sex f,sex m,0.5,-0.25,0.75,0.25,1.25,0.01,0.02\na,d,sex f,sex m,0,0,0,,,1,1\n", text.String())
	for i := range r.Pairs {
		r.Pairs[i].Estimates = &Estimates{Estimate: [2]float64{0.5, 0.25}, Value: 0.25, Low: -0.5, High: 1, P: 0.5, Q: math.NaN()}
	}
	text.Reset()
	require.NoError(t, r.WriteDifferences(&text, [2]string{"sex f", "sex m"}))
	require.Contains(t, text.String(), ",q,estimate_a,estimate_b,estimate_difference,estimate_low,estimate_high,estimate_p,estimate_q\n")
	require.Contains(t, text.String(), "a,d,sex f,sex m,0,0,0,,,1,1,0.5,0.25,0.25,-0.5,1,0.5,\n")
}

// The distance stays below the 0.1 % point of Kolmogorov's distribution, 1.95/√n, plus their steps
// 1/(1 + N).
func TestEqualNetworks(t *testing.T) {
	pairs, c := 20, Config{Permutations: 39}
	if slowtest.Set() {
		pairs, c.Permutations = 200, 99
	}
	var m, s, edge []float64
	for k := range pairs {
		c.Seed = uint64(k)
		r := compared(t, problem(t, chained(t, 40, 0.4, 0.3, 0, uint64(2*k)), chained(t, 60, 0.4, 0.3, 0, uint64(2*k+1)), unpenalised), c, 2)
		m, s, edge = append(m, r.Structure.P), append(s, r.Strength.P), append(edge, r.Pairs[0].P)
	}
	limit := 1.95/math.Sqrt(float64(pairs)) + 1/float64(1+c.Permutations)
	for name, p := range map[string][]float64{"M": m, "S": s, "first pair": edge} {
		slices.Sort(p)
		distance := stat.KolmogorovSmirnov(p, nil, floats.Span(make([]float64, 10000), 0, 1), nil)
		t.Logf("%s: distance %.3f of at most %.3f", name, distance, limit)
		require.Less(t, distance, limit, name)
	}
}
