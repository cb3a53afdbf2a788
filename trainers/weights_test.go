package trainers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"missingscore/data"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// copies is a table whose rows count k times, and one in which they stand k times.
func copies(t require.TestingT, from *data.Table, seed uint64) (weighted, repeated *data.Table) {
	rng := stream.New(seed, 1)
	var rows []int
	weights := make([]float64, from.N)
	for i := range weights {
		k := rng.IntN(4)
		weights[i] = float64(k)
		rows = append(rows, slices.Repeat([]int{i}, k)...)
	}
	weighted, err := from.Weighted(weights)
	require.NoError(t, err)
	repeated, err = from.Rows(rows)
	require.NoError(t, err)
	return weighted, repeated
}

// filled is a table without gaps: what stands in them is taken for data.
func filled(t *testing.T, gaps *data.Table) *data.Table {
	t.Helper()
	table, err := data.NewTable(gaps.Names, gaps.Values, nil)
	require.NoError(t, err)
	return table
}

// near compares numbers relative to the largest of them.
func near(t *testing.T, want, got []float64, tolerance float64, what string) {
	t.Helper()
	size := 1.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	require.InDeltaSlice(t, want, got, tolerance*size, what)
}

func quantities(t *testing.T, m model.Model) (all []float64) {
	p, ok := m.(model.Parametric)
	require.True(t, ok)
	for _, q := range p.Quantities() {
		all = append(all, q.Value...)
	}
	return all
}

// A row of weight k is k rows: of every loss that is minimised or solved over all rows at once.
func TestWeightsAreRepeatedRows(t *testing.T) {
	_, gaps := testtables.Normal(t, 120, 3)
	complete := filled(t, gaps)
	for _, c := range []struct{ kind, method string }{
		{"gaussian", "em-exact"}, {"gaussian", "exact"}, {"gaussian", "full"}, {"gaussian", "zeroed"}, {"quartic", "full"}, {"quartic", "zeroed"},
	} {
		t.Run(c.kind+" "+c.method, func(t *testing.T) {
			table := gaps
			if c.method == "full" {
				table = complete
			}
			weighted, repeated := copies(t, table, 7)
			fit := func(table *data.Table) []float64 {
				d := descent.Config{Tolerance: 1e-11}
				if c.kind == "quartic" {
					d.Optimiser, d.Iterations = "lbfgs", 4 // towards the edge of where there is a density
				}
				r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Model: trainers.ModelSpec{Kind: c.kind}, Descent: d, Steps: engine.Config{Method: c.method}}, trainers.Run{})
				require.NoError(t, err)
				return append(quantities(t, r.Model.Model), r.Loss)
			}
			near(t, fit(repeated), fit(weighted), 1e-8, c.method)
		})
	}
}

// The same of a network's path: of λ, and of P at each.
func TestWeightedPathIsThatOfRepeatedRows(t *testing.T) {
	_, gaps := testtables.Normal(t, 120, 3)
	for method, table := range map[string]*data.Table{"em-exact": gaps, "exact": gaps, "full": filled(t, gaps), "pairwise": filled(t, gaps)} {
		t.Run(method, func(t *testing.T) {
			weighted, repeated := copies(t, table, 7)
			find := func(table *data.Table) *trainers.NetworkResult {
				c := regpath.Config{Lambdas: 12, Select: regpath.Selection{Kind: "none"}, StopTol: 1e-9, MaxIter: 5000, Penalty: regpath.Penalty{Kind: "l1"}}
				return estimate(t, table, trainers.Spec{Network: &c, Steps: engine.Config{Method: method}}).Network
			}
			want, got := find(repeated), find(weighted)
			require.Len(t, got.Points, len(want.Points))
			for i, p := range want.Points {
				require.InEpsilon(t, p.Lambda, got.Points[i].Lambda, 1e-10)
				near(t, p.Packed, got.Points[i].Packed, 1e-7, fmt.Sprint(i))
				require.Equal(t, p.Edges, got.Points[i].Edges)
			}
		})
	}
}

// Equal weights are none, to the byte, and the scale of others has no effect.
func TestScaleOfWeights(t *testing.T) {
	_, table := testtables.Normal(t, 60, 5)
	same, err := table.Weighted(slices.Repeat([]float64{2.5}, table.N))
	require.NoError(t, err)
	require.Equal(t, table.Values, same.Values)
	require.Nil(t, same.Weights)
	rapid.Check(t, func(r *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0.1, 10), table.N, table.N).Draw(r, "weights")
		factor := rapid.SampledFrom([]float64{1e-300, 1e-3, 3, 1e12}).Draw(r, "factor")
		other := slices.Clone(weights)
		for i := range other {
			other[i] *= factor
		}
		a, err := table.Weighted(weights)
		require.NoError(r, err)
		b, err := table.Weighted(other)
		require.NoError(r, err)
		require.InDeltaSlice(r, a.Weights, b.Weights, 1e-13)
		require.InEpsilon(r, a.EffectiveRows(), b.EffectiveRows(), 1e-12)
	})
}

// weightedAir are 20 rows of R's airquality, with weights 1, 3, ½, 2 in turn.
func weightedAir(t *testing.T, columns ...string) *data.Table {
	t.Helper()
	values := []float64{41, 190, 7.4, 67, 36, 118, 8, 72, 12, 149, 12.6, 74, 18, 313, 11.5, 62, 23, 299, 8.6, 65, 19, 99, 13.8, 59, 8, 19, 20.1, 61, 16, 256, 9.7, 69, 11, 290, 9.2, 66, 14, 274, 10.9, 68,
		18, 65, 13.2, 58, 14, 334, 11.5, 64, 34, 307, 12, 66, 6, 78, 18.4, 57, 30, 322, 11.5, 68, 11, 44, 9.7, 62, 1, 8, 9.7, 59, 11, 320, 16.6, 73, 4, 25, 9.7, 61, 32, 92, 12, 61}
	table, err := data.NewTable([]string{"Ozone", "Solar.R", "Wind", "Temp"}, values, nil)
	require.NoError(t, err)
	table, err = table.Weighted(slices.Repeat([]float64{1, 3, 0.5, 2}, 5))
	require.NoError(t, err)
	if columns == nil {
		return table
	}
	table, err = table.Select(columns)
	require.NoError(t, err)
	return table
}

// R 4.2.2: x <- airquality[complete.cases(airquality[, 1:4]), 1:4][1:20, ];
// cw <- cov.wt(x, rep(c(1, 3, .5, 2), 5), method = "ML"); cw$center; solve(cw$cov); cov2cor of it.
func TestWeightsAgainstR(t *testing.T) {
	table := weightedAir(t)
	for _, method := range []string{"full", "em-exact", "exact"} {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: method}, Descent: descent.Config{Tolerance: 1e-11}}, trainers.Run{})
		require.NoError(t, err)
		g := r.Model.Model.(*model.Gaussian)
		require.InDeltaSlice(t, []float64{18.0307692307692, 188.5846153846154, 12.0723076923077, 64.8307692307692}, g.Mean(), 1e-7, method)
		for at, want := range map[[2]int]float64{{0, 0}: 0.013190357659683620, {0, 1}: 0.000145431169463135, {0, 2}: 0.018682222732727627, {2, 2}: 0.130934617453706131, {1, 3}: -0.00145859206628796, {3, 3}: 0.06040803889712476} {
			require.InEpsilon(t, want, g.Precision().At(at[0], at[1]), 1e-6, "%s %v", method, at)
		}
	}
}

// Of two columns a correlation r has the influence u = z₁z₂ − r(z₁² + z₂²)/2, so that with weights
// its error by the rows is √(Σ w²u²)/Σw, and by the model (1 − r²)/√n_eff; that of a mean is
// √(Σ w²(x − m)²)/Σw. R 4.2.2, of the table above:
// cw <- cov.wt(x[, c(1, 4)], w, method = "ML", cor = TRUE); r <- cw$cor[1, 2]; z <- scale(x[, c(1, 4)], cw$center, sqrt(diag(cw$cov)))
func TestWeightedErrorsAgainstClosedForms(t *testing.T) {
	table := weightedAir(t, "Ozone", "Temp")
	const r = 0.316894042873781
	for kind, want := range map[string]float64{"robust": 0.252365876728070, "model": 0.233640420462578} {
		for _, method := range []string{"em-exact", "exact", "full"} {
			s := trainers.Spec{Steps: engine.Config{Method: method}, Network: &regpath.Config{Select: regpath.Selection{Kind: "none"}}, Inference: inference.Config{Kind: kind}}
			pair := estimate(t, table, s).Network.Inference.Pairs[0]
			require.InDelta(t, r, pair.Estimate, 1e-6, "%s %s", kind, method)
			s2 := want / (1 - r*r) * want / (1 - r*r)
			left := math.Sqrt(1 - 3*s2)
			if kind == "robust" && method != "exact" { // at maximum likelihood's estimate
				left *= left
			}
			require.InDelta(t, want/left, pair.SE, 1e-6, "%s %s, Fisher's for few rows", kind, method)
		}
	}
	fit, err := trainers.Estimate(t.Context(), table, trainers.Spec{Inference: inference.Config{Kind: "robust"}, Descent: descent.Config{Tolerance: 1e-11}}, trainers.Run{})
	require.NoError(t, err)
	mean := fit.Model.Uncertainty.Parameters[0]
	require.Equal(t, "mean[Ozone]", mean.Name)
	require.InDelta(t, 2.598876924531659, mean.SE, 1e-5)
	for _, p := range fit.Model.Uncertainty.Parameters { // u <- z %*% P; sqrt(sum(w^2 * (u[, j] * u[, k] - P[j, k])^2)) / sum(w)
		switch p.Name {
		case "precision[Ozone, Ozone]":
			require.InEpsilon(t, 0.00248426092821021, p.SE, 1e-5)
		case "precision[Ozone, Temp]":
			require.InEpsilon(t, 0.00577801082962283, p.SE, 1e-5)
		}
	}
}

// Of two columns EBIC is n_eff log(1 − r²) + log n_eff + 4γ log 2 less with the edge than without.
func TestWeightedEBIC(t *testing.T) {
	table := weightedAir(t, "Ozone", "Temp")
	require.InDelta(t, 14.82456140350877, table.EffectiveRows(), 1e-9) // R: sum(w)^2 / sum(w^2)
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{Select: regpath.Selection{Kind: "ebic", Gamma: new(0.25)}}}).Network
	n, corr := table.EffectiveRows(), 0.316894042873781
	require.Zero(t, r.Points[0].Edges)
	last := len(r.Points) - 1
	require.Equal(t, 1, r.Points[last].Edges)
	require.InDelta(t, n*math.Log(1-corr*corr)+math.Log(n)+math.Log(2), r.Scores[last]-r.Scores[0], 1e-3)
}

// Standard errors are as if rows of almost no weight were not there, where the units of columns
// matter, too.
func TestErrorsOfAlmostNoWeight(t *testing.T) {
	_, table := testtables.Normal(t, 400, 5)
	few, err := table.Rows(table.AllRows()[:200])
	require.NoError(t, err)
	weights := slices.Repeat([]float64{1}, table.N)
	for i := 200; i < table.N; i++ {
		weights[i] = 1e-13
	}
	weighted, err := table.Weighted(weights)
	require.NoError(t, err)
	errors := func(of *data.Table) (all []float64) {
		r, err := trainers.Estimate(t.Context(), of, trainers.Spec{Steps: engine.Config{Method: "exact"}, Inference: inference.Config{Kind: "robust"}, Descent: descent.Config{Tolerance: 1e-11}}, trainers.Run{})
		require.NoError(t, err)
		for _, p := range r.Model.Uncertainty.Parameters {
			all = append(all, p.SE)
		}
		return all
	}
	require.InEpsilonSlice(t, errors(few), errors(weighted), 1e-5)
}

// Thresholds of ordered categories and normal scores are of weighted shares.
func TestWeightedShares(t *testing.T) {
	x, w := []float64{1, 2, 2, 3}, []float64{2, 0.5, 0.5, 1}
	whole := []float64{1, 1, 2, 3}
	require.InDeltaSlice(t, transform.NewOrdinal(whole, nil).Cuts(), transform.NewOrdinal(x, w).Cuts(), 1e-15)
	npn := transform.Kinds["npn"].Fit
	inf := math.Inf(1)
	for _, v := range []float64{1, 1.5, 2, 3} {
		require.InDelta(t, npn(whole, nil, -inf, inf).Forward(v), npn(x, w, -inf, inf).Forward(v), 1e-15)
	}
}

// Mini-batches and resamples know the weights: rows of almost no weight do not count.
func TestWeightsReachBatchesAndResamples(t *testing.T) {
	_, table := testtables.Normal(t, 200, 5)
	other := slices.Clone(table.Values)
	weights := slices.Repeat([]float64{1}, table.N)
	for i := 100; i < 200; i++ {
		weights[i] = 1e-9
		for j := range table.D {
			other[i*table.D+j] = 3 - 2*other[i*table.D+j]
		}
	}
	strange, err := data.NewTable(table.Names, other, table.Observed)
	require.NoError(t, err)
	fit := func(from *data.Table) []float64 {
		weighted, err := from.Weighted(weights)
		require.NoError(t, err)
		r, err := trainers.Estimate(t.Context(), weighted, trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Passes(20, 0.01)}, trainers.Run{})
		require.NoError(t, err)
		return quantities(t, r.Model.Model)
	}
	near(t, fit(table), fit(strange), 1e-5, "iw")
}

func TestRefusedWithWeights(t *testing.T) {
	_, table := testtables.Normal(t, 60, 5)
	for _, w := range [][]float64{{1}, slices.Repeat([]float64{-1}, 60), slices.Repeat([]float64{math.NaN()}, 60), slices.Repeat([]float64{math.Inf(1)}, 60), make([]float64, 60)} {
		_, err := table.Weighted(w)
		require.Error(t, err)
	}
}
