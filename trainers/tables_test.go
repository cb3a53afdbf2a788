package trainers_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	_ "missingscore/data/arrow"
	"missingscore/data/domain"
	_ "missingscore/data/excel"
	"missingscore/data/missingness"
	_ "missingscore/data/parquet"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/moments"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

// A log undoes the exponential of 1.5 times a normal; npn does not see it.
func TestTransformedNetworks(t *testing.T) {
	_, normal := testtables.Star(t, 6, 300, 0.2)
	exponential := *normal
	exponential.Values = slices.Clone(normal.Values)
	for i, seen := range normal.Observed {
		if seen {
			exponential.Values[i] = math.Exp(1.5 * normal.Values[i])
		}
	}
	bound := domain.All(6)
	clear(bound.Lower)
	by := func(table *data.Table, s *domain.Domain, by string) *trainers.Result {
		return estimate(t, table, trainers.Spec{
			Transform: transform.Spec{Others: by}, Domain: s,
			Steps: engine.Config{Method: "exact"}, Network: &regpath.Config{Lambdas: 15},
		})
	}
	plain, logs := by(normal, nil, "none"), by(&exponential, bound, "log")
	require.Nil(t, plain.Model.Transform)
	require.Nil(t, logs.Model.Domain)
	require.Empty(t, logs.Warnings)
	var scaled mat.Dense
	scaled.Scale(2.25, logs.Network.Precision)
	require.True(t, mat.EqualApprox(plain.Network.Precision, &scaled, 2e-6))
	ofNormal, ofExponential := by(normal, nil, "npn"), by(&exponential, bound, "npn")
	require.True(t, mat.EqualApprox(ofNormal.Network.Precision, ofExponential.Network.Precision, 1e-9))
	drawn := []float64{-100, 0, 0, 0, 0, 0}
	ofExponential.Model.Transform.Restore(drawn)
	require.Equal(t, 0., drawn[0], "the bound, below the least value")
}

// A chain of four with partial dependence 0.6: a number and items of four, two and five categories,
// missing where the number is large.
func items(t *testing.T, n int) *data.Table {
	t.Helper()
	rng := stream.New(3, stream.Simulate)
	cuts := [][]float64{nil, {-.5, .3, 1}, {.4}, {-1, -.2, .5, 1.2}}
	table := &data.Table{Names: []string{"age", "a", "b", "c"}, N: n, D: 4}
	for range n {
		before, first := 0., 0.
		for j, own := range cuts {
			z := rng.NormFloat64()
			v := 40 + 10*z
			if j == 0 {
				first = z
			} else {
				z = .6*before + .8*z
				v = 1 + float64(sort.SearchFloat64s(own, z))
			}
			table.Values = append(table.Values, v)
			table.Observed = append(table.Observed, own == nil || rng.Float64() > 1/(1+math.Exp(2-1.5*first)))
			before = z
		}
	}
	return table
}

var ordinal = transform.Spec{Columns: map[string]string{"a": "ordinal", "b": "ordinal", "c": "ordinal"}}

// 3000 rows: standard errors below 0.03.
func TestNetworkOfOrderedCategories(t *testing.T) {
	table := items(t, 3000)
	s := trainers.Spec{Transform: ordinal, Steps: engine.Config{Workers: 2}, Network: &regpath.Config{Lambdas: 20}}
	r := estimate(t, table, s)
	require.True(t, r.Converged, r.Verdict)
	require.Equal(t, "em-latent", r.Spec.Steps.Method)
	require.EqualValues(t, "MAR", r.Assumption)
	require.Contains(t, r.Network.Moments, "latent normal")
	for k := range 3 {
		require.True(t, r.Network.Adjacency.Has(k, k+1))
	}
	require.InDelta(t, 40, r.Network.Mean[0], 0.6)
	fitted, observed := r.Model.Transform[1].(*transform.Ordinal).Cuts(), transform.NewOrdinal(table.Column(1), nil).Cuts()
	require.InDeltaSlice(t, []float64{-.5, .3, 1}, fitted, 0.08)
	require.Greater(t, observed[1]-fitted[1], 0.1, "shares of the observed cells are not those of all")

	s.Steps.Method = "pairwise"
	pairs := estimate(t, table, s)
	require.Contains(t, pairs.Network.Moments, "polychoric")
	require.Equal(t, observed, pairs.Model.Transform[1].(*transform.Ordinal).Cuts())
}

// Ozone and Temp of 20 complete rows of R's airquality with weights 1, 3, ½, 2 repeated: R 4.2.2,
// x <- airquality[complete.cases(airquality[, 1:4]), c(1, 4)][1:20, ]; w <- rep(c(1, 3, .5, 2), 5).
func weightedAir(t *testing.T) *data.Table {
	t.Helper()
	values := []float64{41, 67, 36, 72, 12, 74, 18, 62, 23, 65, 19, 59, 8, 61, 16, 69, 11, 66, 14, 68,
		18, 58, 14, 64, 34, 66, 6, 57, 30, 68, 11, 62, 1, 59, 11, 73, 4, 61, 32, 61}
	table := testtables.Must(data.NewTable([]string{"Ozone", "Temp"}, values, nil))
	table = testtables.Must(table.Weighted(slices.Repeat([]float64{1, 3, 0.5, 2}, 5)))
	return table
}

// r has the influence u = z₁z₂ − r(z₁² + z₂²)/2: errors √(Σ w²u²)/Σw by the rows, (1 − r²)/√n_eff
// by the model; of a mean √(Σ w²(x − m)²)/Σw. R 4.2.2: cw <- cov.wt(x, w, method = "ML", cor = TRUE);
// r <- cw$cor[1, 2]; z <- scale(x, cw$center, sqrt(diag(cw$cov)))
func TestWeightedErrorsAgainstClosedForms(t *testing.T) {
	table := weightedAir(t)
	const r = 0.316894042873781
	for kind, want := range map[string]float64{"robust": 0.252365876728070, "model": 0.233640420462578} {
		for _, method := range []string{"em-exact", "exact", "full"} {
			if kind == "model" && method == "exact" { // refused
				continue
			}
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
	fit := estimate(t, table, trainers.Spec{Inference: inference.Config{Kind: "robust"}, Descent: descent.Config{Tolerance: 1e-11}})
	mean := fit.Model.Uncertainty.Parameters[0]
	require.Equal(t, "mean[Ozone]", mean.Name)
	require.InDelta(t, 2.598876924531659, *mean.SE, 1e-5)
	for _, p := range fit.Model.Uncertainty.Parameters { // u <- z %*% P; sqrt(sum(w^2 * (u[, j] * u[, k] - P[j, k])^2)) / sum(w)
		switch p.Name {
		case "precision[Ozone, Ozone]":
			require.InEpsilon(t, 0.00248426092821021, *p.SE, 1e-5)
		case "precision[Ozone, Temp]":
			require.InEpsilon(t, 0.00577801082962283, *p.SE, 1e-5)
		}
	}
}

// The edge lowers EBIC by n_eff log(1 − r²) + log n_eff + 4γ log 2.
func TestWeightedEBIC(t *testing.T) {
	table := weightedAir(t)
	require.InDelta(t, 14.82456140350877, table.EffectiveRows(), 1e-9) // R: sum(w)^2 / sum(w^2)
	r := estimate(t, table, trainers.Spec{Network: &regpath.Config{Select: regpath.Selection{Kind: "ebic", Gamma: new(0.25)}}}).Network
	n, corr := table.EffectiveRows(), 0.316894042873781
	require.Zero(t, r.Points[0].Edges)
	last := len(r.Points) - 1
	require.Equal(t, 1, r.Points[last].Edges)
	require.InDelta(t, n*math.Log(1-corr*corr)+math.Log(n)+math.Log(2), r.Scores[last]-r.Scores[0], 1e-3)
}

// Rows with tiny weights have no effect.
func TestWeightsReachBatches(t *testing.T) {
	_, table := testtables.Normal(t, 200, 5)
	fit := func() []float64 {
		weights := slices.Concat(slices.Repeat([]float64{1}, 100), slices.Repeat([]float64{1e-9}, 100))
		weighted, err := table.Weighted(weights)
		require.NoError(t, err)
		s := trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Passes(20, 0.01)}
		r := estimate(t, weighted, s)
		m := r.Model.Model.(*model.Gaussian)
		return append(m.Mean(), graph.Pack(m.Precision())...)
	}
	want := fit()
	for at := 100 * table.D; at < len(table.Values); at++ {
		table.Values[at] = 3 - 2*table.Values[at]
	}
	require.InDeltaSlice(t, want, fit(), 1e-4)
}

// Different units and missing cells; the first column of a row without values is observed.
func chain(t *testing.T, n, d int, missing float64) *data.Table {
	t.Helper()
	rng := stream.New(11, 3)
	table := &data.Table{Names: []string{"a", "b", "c", "d", "e"}[:d], N: n, D: d}
	for i := range n {
		x := rng.NormFloat64()
		for j := range d {
			table.Values = append(table.Values, 100+math.Pow(10, float64(j-2))*x)
			table.Observed = append(table.Observed, rng.Float64() >= missing)
			x = 0.6*x + 0.8*rng.NormFloat64()
		}
		if row := table.Observed[i*d:]; !slices.Contains(row, true) {
			row[0] = true
		}
	}
	return table
}

func counted(t *testing.T, table *data.Table, pairs bool) *data.Table {
	t.Helper()
	m, err := moments.New(table.Names, moments.Options{Pairs: pairs})
	require.NoError(t, err)
	require.NoError(t, m.Add(table.Values, table.Observed))
	out, err := m.Table()
	require.NoError(t, err)
	return out
}

func TestNetworksFromMoments(t *testing.T) {
	for _, c := range []struct {
		missing float64
		pairs   bool
		spec    trainers.Spec
	}{
		{0, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "l1"}}, Inference: inference.Config{Kind: "model"}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "adaptive", Alpha: 0.1}}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "l1"}, Select: regpath.Selection{Kind: "fdr"}}, Inference: inference.Config{Kind: "model"}}},
		{0.3, false, trainers.Spec{Steps: engine.Config{Method: "pairwise"}, Network: &regpath.Config{Lambdas: 15}}},
		{0.3, true, trainers.Spec{Steps: engine.Config{Method: "pairwise"}, Network: &regpath.Config{Lambdas: 15}}},
	} {
		table := chain(t, 1500, 5, c.missing)
		of := func(table *data.Table) *trainers.NetworkResult {
			spec, network := c.spec, *c.spec.Network
			spec.Network = &network
			r := estimate(t, table, spec)
			require.True(t, r.Converged)
			return r.Network
		}
		want, got := of(table), of(counted(t, table, c.pairs))
		require.Equal(t, want.Adjacency, got.Adjacency)
		require.NotEmpty(t, want.Edges())
		require.Len(t, got.Points, len(want.Points))
		for i, p := range want.Points {
			require.InEpsilon(t, p.Loss, got.Points[i].Loss, 1e-8)
			require.InEpsilon(t, p.Lambda, got.Points[i].Lambda, 1e-8)
			if want.Scores != nil && !math.IsNaN(want.Scores[i]) {
				require.InEpsilon(t, want.Scores[i], got.Scores[i], 1e-8)
			}
		}
		for j := range 5 {
			for k := range 5 {
				unit := math.Sqrt(want.Precision.At(j, j) * want.Precision.At(k, k))
				require.InDelta(t, want.Precision.At(j, k), got.Precision.At(j, k), 1e-8*unit)
			}
		}
		require.InEpsilonSlice(t, want.Mean, got.Mean, 1e-8)
		for i, e := range want.Network.Pairs {
			require.InDelta(t, e.Uncertainty.SE, got.Network.Pairs[i].Uncertainty.SE, 1e-8)
			require.InDelta(t, e.Uncertainty.Estimate, got.Network.Pairs[i].Uncertainty.Estimate, 1e-8)
			require.Equal(t, e.Uncertainty.Rows, got.Network.Pairs[i].Uncertainty.Rows)
		}
	}
}

// The same numbers, and the table as before: on a box to the bit, also if the fit is cut.
func TestInPlace(t *testing.T) {
	box := domain.All(5)
	box.Upper[1] = 1e3
	for name, s := range map[string]trainers.Spec{
		"network":   {Network: &regpath.Config{}},
		"resamples": {Network: &regpath.Config{Lambdas: 10}, Inference: inference.Config{Kind: "bootstrap", Resamples: 5}},
		"fit":       {Inference: inference.Config{Kind: "robust"}},
		"origin":    {Model: trainers.ModelSpec{Kind: "quartic"}, Steps: engine.Config{Method: "zeroed"}, Descent: descent.Config{Iterations: 3}},
		"box":       {Domain: box, Steps: engine.Config{Method: "zeroed"}, Descent: descent.Config{Iterations: 3}},
	} {
		_, table := testtables.Star(t, 5, 300, 0.2)
		before := slices.Clone(table.Values)
		want := estimate(t, table, s)
		require.Equal(t, before, table.Values, name)
		got := estimate(t, table, s, trainers.Run{InPlace: true})
		require.InDeltaSlice(t, before, table.Values, map[bool]float64{false: 1e-14}[name == "box"], name)
		require.Equal(t, want.Warnings, got.Warnings, name)
		for i, p := range want.Model.Model.Params() {
			require.Equal(t, p.Value, got.Model.Model.Params()[i].Value, name)
		}
	}
	_, table := testtables.Star(t, 5, 300, 0.2)
	before := slices.Clone(table.Values)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := trainers.Spec{Network: &regpath.Config{}}
	_, err := trainers.Estimate(ctx, table, s, trainers.Run{InPlace: true})
	require.ErrorIs(t, err, context.Canceled)
	require.InDeltaSlice(t, before, table.Values, 1e-14)
}

// n normal rows with a fifth of the cells missing.
func normalFile(t *testing.T, n int, name string) (file string, table *data.Table) {
	rng := stream.New(4, 4)
	g := testtables.Must(simulate.Normal(3, rng))
	table = testtables.Sampled(t, g, nil, n, 0.2, rng)
	for k, seen := range table.Observed {
		if !seen {
			table.Values[k] = math.NaN()
		}
	}
	file = filepath.Join(t.TempDir(), name)
	require.NoError(t, data.WriteNumbers(atomicfile.Write, file, table.Names, table.Values))
	table = testtables.Must(data.ReadFile(file, data.ReadOptions{}))
	return file, table
}

func streamed(
	ctx context.Context, t *testing.T, file string, block int, s trainers.Spec, run trainers.Run,
) (*trainers.Result, error) {
	f, err := data.OpenRows(file, data.ReadOptions{}, block)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	p, err := trainers.PrepareFile(ctx, f, s, nil)
	if err != nil {
		return nil, err
	}
	return p.Estimate(ctx, run)
}

func text(t *testing.T, r *trainers.Result) ([]byte, []descent.Record) {
	b, err := r.Encode()
	require.NoError(t, err)
	for i := range r.History { // NaN differs from itself
		if h := &r.History[i]; h.HeldOut != h.HeldOut {
			h.HeldOut = 0
		}
		r.History[i].Gradient, r.History[i].EffectiveSize = 0, 0
	}
	return b, r.History
}

func TestOneBlockIsTheTable(t *testing.T) {
	file, table := normalFile(t, 300, "t.csv")
	low := domain.All(3)
	low.Lower[0] = -20
	specs := []trainers.Spec{
		{Model: trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[8]}`)}, Steps: engine.Config{Method: "em-full"}},
		{Model: trainers.ModelSpec{Kind: "quartic"}, Steps: engine.Config{Method: "iw"}},
		{Steps: engine.Config{Method: "var"}, KeepUnits: true},
		{Steps: engine.Config{Method: "iw"}, Domain: low},
		{Steps: engine.Config{Method: "iw", Batch: 1000}, Transform: transform.Spec{Columns: map[string]string{"x1": "none"}}},
		{Steps: engine.Config{Method: "var", DType: graph.Float32}},
		{Steps: engine.Config{Method: "em-full", DType: graph.Float32}},
	}
	for _, method := range []string{"var", "iw", "variw", "em", "em-full", "em-var", "em-exact", "exact", "zeroed"} {
		specs = append(specs, trainers.Spec{Steps: engine.Config{Method: method}})
	}
	for _, s := range specs {
		if strings.Contains(s.Steps.Method, "var") {
			s.Steps.WarmUp = new(20)
		}
		s.Descent = descent.Config{Optimiser: "adam", Epochs: 4, Validation: new(0.0)}
		s.Steps.Workers = 2
		held := estimate(t, table, s)
		got, err := streamed(t.Context(), t, file, 0, s, trainers.Run{})
		require.NoError(t, err, s.Steps.Method)
		a, ah := text(t, held)
		b, bh := text(t, got)
		require.Equal(t, ah, bh, s.Steps.Method)
		require.Equal(t, string(a), string(b), s.Steps.Method)
		require.Equal(t, held.MissingAtRandom, got.MissingAtRandom)
	}
}

// 1800 rows in seven windows.
func windowed() trainers.Spec {
	return trainers.Spec{
		Steps:   engine.Config{Method: "var", WarmUp: new(10), Batch: 50, ImputerSteps: 3, Draws: 4, Workers: 2},
		Descent: descent.Config{Epochs: 3, Validation: new(0.1)},
	}
}

const windowedBlock = 17 // rows

func TestStreamedRefusals(t *testing.T) {
	file, _ := normalFile(t, 500, "t.csv")
	for words, s := range map[string]trainers.Spec{
		"a network needs all rows in memory; compute moments": {Network: &regpath.Config{}},
		"method em-chains keeps a chain for every row":        {Steps: engine.Config{Method: "em-chains"}},
		"standard errors need all rows in memory":             {Inference: inference.Config{Kind: "robust"}, Steps: engine.Config{Method: "iw"}},
		"npn of x2 needs the ranks of all rows":               {Transform: transform.Spec{Columns: map[string]string{"x2": "npn"}}},
		"estimating the missingness mechanism needs all rows": {Missingness: &missingness.Model{Logistic: missingness.NewLogistic(3), Estimated: true}},
		"lbfgs: each iteration needs all rows in memory":      {Steps: engine.Config{Method: "exact"}, Descent: descent.Config{Optimiser: "lbfgs"}},
		"full is for tables without missing cells":            {Steps: engine.Config{Method: "full"}},
	} {
		_, err := streamed(t.Context(), t, file, windowedBlock, s, trainers.Run{})
		require.ErrorContains(t, err, words)
	}
	// A row outside the domain is named by its line, even if it is not in the sample.
	low := domain.All(3)
	low.Lower[1] = -1
	s := trainers.Spec{Domain: low, Steps: engine.Config{Method: "iw"}}
	_, err := streamed(t.Context(), t, file, windowedBlock, s, trainers.Run{})
	var outside *data.RowError
	require.ErrorAs(t, err, &outside)
	require.Positive(t, outside.Line)
}

func TestStreamedFormatsAndResumes(t *testing.T) {
	var want []byte
	for name, workers := range map[string]int{"t.csv": 4, "t.parquet": 3, "t.feather": 1} {
		file, _ := normalFile(t, 1800, name)
		s := windowed()
		s.Steps.Workers = workers
		r, err := streamed(t.Context(), t, file, windowedBlock, s, trainers.Run{})
		require.NoError(t, err)
		got, _ := text(t, r)
		if want == nil {
			want = got
		}
		require.Equal(t, string(want), string(got), name)
	}
	file, _ := normalFile(t, 1800, "t.csv")
	for _, at := range []int{7, 40} { // in the first and the second pass
		state := filepath.Join(t.TempDir(), "state")
		ctx, cancel := context.WithCancel(t.Context())
		s := windowed()
		s.Steps.Observe = func(p engine.Progress) {
			if p.Stage == "fit" && p.Iteration == at {
				cancel()
			}
		}
		save := func(s *trainers.State) error { return s.Save(state) }
		_, err := streamed(ctx, t, file, windowedBlock, s, trainers.Run{Save: save})
		require.ErrorIs(t, err, context.Canceled)
		from, err := trainers.LoadState(state)
		require.NoError(t, err)
		r, err := streamed(t.Context(), t, file, windowedBlock, windowed(), trainers.Run{State: from})
		require.NoError(t, err)
		got, _ := text(t, r)
		require.Equal(t, string(want), string(got), "cut at %d", at)
	}
}
