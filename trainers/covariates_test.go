package trainers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

var monthAndDay = []string{"Month", "Day"}

// completeAir are the complete rows of R's airquality.
func completeAir(t *testing.T) *data.Table {
	t.Helper()
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{})
	require.NoError(t, err)
	table, err = table.CompleteRows()
	require.NoError(t, err)
	return table
}

// Without a penalty partial correlations given covariates are those of the residuals of linear
// regressions on them. R 4.2.2: x <- airquality[complete.cases(airquality), ];
// e <- residuals(lm(cbind(Ozone, Solar.R, Wind, Temp) ~ Month + Day, x)); -cov2cor(solve(cov(e)))
func TestCovariatesAgainstResiduals(t *testing.T) {
	want := [][3]float64{{0, 1, 0.2050514550802482}, {0, 2, -0.4489786416815071}, {1, 2, 0.1142751241501182}, {0, 3, 0.5597558445813821}, {1, 3, 0.1494291958820297}, {2, 3, -0.0798809266373098}}
	for _, method := range []string{"full", "em-exact", "exact", "pairwise"} {
		c := regpath.Config{Covariates: monthAndDay, Select: regpath.Selection{Kind: "none"}, Refit: new(true), Tolerance: 1e-11, StopTol: 1e-3, Threshold: 1e-5, LambdaMin: 1e-7, Lambdas: 10, Penalty: regpath.Penalty{Kind: "l1"}}
		r := estimate(t, completeAir(t), trainers.Spec{Steps: engine.Config{Method: method}, Network: &c})
		n := r.Network
		require.Equal(t, []string{"Ozone", "Solar.R", "Wind", "Temp"}, n.Names, method)
		require.Equal(t, monthAndDay, n.Covariates)
		require.Len(t, n.Edges(), 6, method)
		for _, w := range want {
			j, k := int(w[0]), int(w[1])
			got := -n.Precision.At(j, k) / math.Sqrt(n.Precision.At(j, j)*n.Precision.At(k, k))
			require.InDelta(t, w[2], got, 1e-8, "%s %v", method, w)
		}
		require.Equal(t, []string{"Ozone", "Solar.R", "Wind", "Temp", "Month", "Day"}, r.Model.Names)
	}
}

// confounded are n rows of two columns that are independent given a third, which has gaps where
// the first is large: missing at random.
func confounded(t *testing.T, n int) *data.Table {
	t.Helper()
	rng := stream.New(4, stream.Simulate)
	table := &data.Table{Names: []string{"a", "b", "age", "c"}, N: n, D: 4}
	for range n {
		age := rng.NormFloat64()
		a, b := age+rng.NormFloat64(), -age+rng.NormFloat64()
		c := 0.7*b + rng.NormFloat64()
		table.Values = append(table.Values, a, b, age, c)
		table.Observed = append(table.Observed, true, rng.Float64() > 0.2, rng.Float64() > 1/(1+math.Exp(-2*a)), true)
	}
	return table
}

// A covariate explains what two columns have in common, at every λ, for its pairs have no penalty,
// and with its cells missing at random, too; without it they are joined.
func TestCovariatesWithGaps(t *testing.T) {
	table := confounded(t, 4000)
	with := regpath.Config{Covariates: []string{"age"}, Lambdas: 30}
	r := estimate(t, table, trainers.Spec{Network: &with, Inference: inference.Config{Kind: "robust"}}).Network
	require.Equal(t, []string{"a", "b", "c"}, r.Names)
	require.Equal(t, "b", r.Edges()[0].From)
	require.Equal(t, "c", r.Edges()[0].To)
	require.Zero(t, r.Points[0].Edges)
	require.False(t, r.Adjacency.Has(0, 1))
	p := r.Precision // a's variance given age, at the chosen network, is 1 where age has no penalty
	require.InDelta(t, 1, 1/p.At(0, 0), 0.1)
	require.Len(t, r.Inference.Pairs, 3)
	require.InDelta(t, 0, r.Inference.Pairs[0].Estimate, 4*r.Inference.Pairs[0].SE, "a and b given age and c")
	require.Less(t, r.Inference.Pairs[0].SE, 0.05)
	want := 0.7 / math.Sqrt(1+0.7*0.7) // c given age: both of variance 1 but for b
	require.InDelta(t, want, r.Inference.Pairs[2].Estimate, 4*r.Inference.Pairs[2].SE)

	alone, err := table.Select([]string{"a", "b", "c"})
	require.NoError(t, err)
	marginal := estimate(t, alone, trainers.Spec{Inference: inference.Config{Kind: "robust"}}).Network
	require.Less(t, marginal.Inference.Pairs[0].Estimate, -0.2)
}

// Without any edge the columns are independent given the covariates, whose pairs are free however
// small: their precisions are one over the residual variances of R's lm. R 4.2.2, of the rows
// above: n <- nrow(x); n / colSums(e^2)
func TestCovariatesOfAnEmptyNetwork(t *testing.T) {
	want := []float64{0.000930323582570826, 0.000122539792715037, 0.083058196772269513, 0.013416082988185980}
	for _, method := range []string{"full", "em-exact", "pairwise"} {
		c := regpath.Config{Covariates: monthAndDay, Select: regpath.Selection{Kind: "density"}, Refit: new(true), Tolerance: 1e-11, Threshold: 10, Lambdas: 5, Penalty: regpath.Penalty{Kind: "l1"}}
		n := estimate(t, completeAir(t), trainers.Spec{Steps: engine.Config{Method: method}, Network: &c}).Network
		for j, v := range want {
			if method == "em-exact" { // the others' refits are by score matching, not by likelihood
				require.InEpsilon(t, v, n.Precision.At(j, j), 1e-8, method)
			}
		}
		c.Refit = new(false) // with the penalty, too
		whole := estimate(t, completeAir(t), trainers.Spec{Steps: engine.Config{Method: method}, Network: &c}).Model.Model.(model.Normal)
		p := whole.Precision()
		require.Less(t, p.At(3, 4)/math.Sqrt(p.At(3, 3)*p.At(4, 4)), -0.3, "%s: Temp and Month", method)
	}
}

// Every selection counts the pairs of nodes alone, the bootstrap, too.
func TestSelectionsWithCovariates(t *testing.T) {
	table := confounded(t, 400)
	for _, s := range []regpath.Selection{{Kind: "ebic"}, {Kind: "cv"}, {Kind: "stars"}, {Kind: "fdr"}, {Kind: "density", Density: 1}} {
		c := regpath.Config{Covariates: []string{"age"}, Lambdas: 20, Select: s}
		r := estimate(t, table, trainers.Spec{Network: &c})
		require.Equal(t, 3, r.Network.Adjacency.D, s.Kind)
		require.Len(t, r.Network.Adjacency.Edge, 3, s.Kind)
		require.True(t, s.Kind == "stars" || r.Network.Adjacency.Has(1, 2), s.Kind) // of three pairs it may find none steady
		if s.Kind == "density" {
			require.Len(t, r.Network.Edges(), 3)
		}
	}
	for _, method := range []string{"em-exact", "exact", "pairwise"} {
		c := regpath.Config{Covariates: []string{"age"}, Lambdas: 20}
		r := estimate(t, table, trainers.Spec{Network: &c, Steps: engine.Config{Method: method}, Inference: inference.Config{Kind: "bootstrap", Resamples: 5, Stability: 10}})
		require.Len(t, r.Network.Inference.Pairs, 3, method)
		require.InDelta(t, 1, r.Network.Inference.Pairs[2].Inclusion, 1e-15, method)
	}
	c := regpath.Config{Covariates: []string{"age"}, Lambdas: 10}
	latent := estimate(t, ordinalOf(table), trainers.Spec{Network: &c, Transform: transform.Spec{Columns: map[string]string{"a": "ordinal", "b": "ordinal", "c": "ordinal"}}})
	require.Equal(t, "em-latent", latent.Spec.Steps.Method)
	require.Equal(t, []string{"a", "b", "c"}, latent.Network.Names)
}

// ordinalOf makes the columns but age categories 0, 1, 2.
func ordinalOf(table *data.Table) *data.Table {
	out := *table
	out.Values = append([]float64{}, table.Values...)
	for i, x := range out.Values {
		if i%table.D != 2 {
			out.Values[i] = math.Max(0, math.Min(2, math.Round(x/2)+1))
		}
	}
	return &out
}

func TestRefusedCovariates(t *testing.T) {
	table := confounded(t, 60)
	for text, c := range map[string]regpath.Config{
		"covariates agee: there is no such column (did you mean age?)": {Covariates: []string{"agee"}},
		"covariates age: it is named twice":                            {Covariates: []string{"age", "age"}},
		"a network needs two columns at least":                         {Covariates: []string{"age", "a", "b"}},
		"take --penalty l1":                                            {Covariates: []string{"age"}, Penalty: regpath.Penalty{Kind: "adaptive"}},
		"take ebic or fdr":                                             {Covariates: []string{"age"}, Select: regpath.Selection{Kind: "stability"}},
	} {
		_, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &c}, trainers.Run{})
		require.ErrorContains(t, err, text)
	}
	c := regpath.Config{Covariates: []string{"age"}}
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &c, Steps: engine.Config{Method: "iw"}}, trainers.Run{})
	require.ErrorContains(t, err, "take --method em-exact")
}

// suppressed are n rows of two columns that have more in common than they show: a covariate hides
// a part of it. A share of the cells is missing.
func suppressed(t *testing.T, n int, missing float64) *data.Table {
	t.Helper()
	rng := stream.New(11, stream.Simulate)
	table := &data.Table{Names: []string{"a", "b", "age", "c"}, N: n, D: 4}
	for range n {
		age, e := rng.NormFloat64(), rng.NormFloat64()
		table.Values = append(table.Values, 0.6*age+e, 0.9*e-0.6*age+0.44*rng.NormFloat64(), age, rng.NormFloat64())
		for range 4 {
			table.Observed = append(table.Observed, rng.Float64() >= missing)
		}
	}
	return table
}

// The path begins with the empty network also where the covariates do not explain what two columns
// have in common, but hide a part of it; without gaps an edge enters right below.
func TestPathsWithCovariatesBeginEmpty(t *testing.T) {
	for method, missing := range map[string]float64{"full": 0, "em-exact": 0.25, "exact": 0.25, "pairwise": 0.25} {
		for _, share := range []float64{0, missing} {
			c := regpath.Config{Covariates: []string{"age"}}
			n := estimate(t, suppressed(t, 400, share), trainers.Spec{Steps: engine.Config{Method: method}, Network: &c}).Network
			require.Zero(t, n.Points[0].Edges, "%s, %v missing", method, share)
			require.True(t, n.Adjacency.Has(0, 1), "%s, %v missing", method, share)
			if share == 0 {
				require.Positive(t, n.Points[2].Edges, method)
			}
		}
	}
}
