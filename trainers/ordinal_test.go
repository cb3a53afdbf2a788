package trainers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/data/transform"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// items are a chain of four columns, each with 0.6 of the one before in it: a number in units of
// its own, items of four, two and five categories. Cells of the items are missing where the
// number is large.
func items(t *testing.T, n int) *data.Table {
	t.Helper()
	rng := stream.New(3, stream.Simulate)
	cuts := [][]float64{nil, {-.5, .3, 1}, {.4}, {-1, -.2, .5, 1.2}}
	table := &data.Table{Names: []string{"age", "a", "b", "c"}, N: n, D: 4}
	for range n {
		before, first := 0., 0.
		for j, own := range cuts {
			z := rng.NormFloat64()
			if j > 0 {
				z = .6*before + .8*z
			}
			v := 40 + 10*z
			if own != nil {
				v = 1
				for _, c := range own {
					if z > c {
						v++
					}
				}
			} else {
				first = z
			}
			table.Values = append(table.Values, v)
			table.Observed = append(table.Observed, own == nil || rng.Float64() > 1/(1+math.Exp(2-1.5*first)))
			before = z
		}
	}
	return table
}

var ordinal = transform.Spec{Columns: map[string]string{"a": "ordinal", "b": "ordinal", "c": "ordinal"}}

// The chain's partial correlations, thresholds in the model, right though gaps depend on the
// number. 3000 rows: standard errors below 0.03.
func TestNetworkOfOrderedCategories(t *testing.T) {
	table := items(t, 3000)
	s := trainers.Spec{Transform: ordinal, Steps: engine.Config{Workers: 2}, Network: &regpath.Config{Lambdas: 20}}
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	require.Equal(t, "em-latent", r.Spec.Steps.Method)
	require.EqualValues(t, "MAR", r.Assumption)
	require.Contains(t, r.Network.Moments, "latent normal")
	// the precision of the chain: ends 1/0.64, within (1 + 0.36)/0.64, neighbours −0.6/0.64
	ends, within := 0.6/math.Sqrt(1.36), 0.6/1.36
	for _, e := range r.Network.Edges() {
		switch e.From + e.To {
		case "agea", "bc":
			require.InDelta(t, ends, e.PartialCorrelation, 0.08, "%s, %s", e.From, e.To)
		case "ab":
			require.InDelta(t, within, e.PartialCorrelation, 0.1)
		default:
			require.InDelta(t, 0, e.PartialCorrelation, 0.09, "%s, %s", e.From, e.To)
		}
	}
	require.True(t, r.Network.Adjacency.Has(0, 1) && r.Network.Adjacency.Has(1, 2) && r.Network.Adjacency.Has(2, 3))
	require.InDelta(t, 40, r.Network.Mean[0], 0.6)
	fitted, observed := r.Model.Transform[1].(*transform.Ordinal).Cuts(), transform.NewOrdinal(table.Column(1), nil).Cuts()
	require.InDeltaSlice(t, []float64{-.5, .3, 1}, fitted, 0.08)
	require.Greater(t, observed[1]-fitted[1], 0.1, "shares of the observed cells are not those of all")

	s.Steps.Workers = 1
	again, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.Equal(t, r.Network.Precision, again.Network.Precision)

	s.Steps.Method = "pairwise"
	pairs, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.Contains(t, pairs.Network.Moments, "polychoric")
	require.Equal(t, observed, pairs.Model.Transform[1].(*transform.Ordinal).Cuts())
}

// Without a penalty P is that of all pairs, and the model draws categories.
func TestFitOfOrderedCategories(t *testing.T) {
	table := items(t, 1500)
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Transform: ordinal}, trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	m, err := r.Model.Fitted()
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, m.Transform.Ordinal())
	s := trainers.Spec{Transform: ordinal, Network: &regpath.Config{Lambdas: 5, Select: regpath.Selection{Kind: "none"}}}
	_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
}

func TestRefusalsOfOrderedCategories(t *testing.T) {
	table := items(t, 100)
	network := func() *regpath.Config { return &regpath.Config{Lambdas: 5} }
	bounds := domain.All(4)
	bounds.Lower[1] = 0
	for name, c := range map[string]struct {
		spec trainers.Spec
		want string
	}{
		"method":      {trainers.Spec{Transform: ordinal, Network: network(), Steps: engine.Config{Method: "var"}}, "take em-latent"},
		"no ordinal":  {trainers.Spec{Network: network(), Steps: engine.Config{Method: "em-latent"}}, "--ordinal"},
		"model":       {trainers.Spec{Transform: ordinal, Model: trainers.ModelSpec{Kind: "quartic"}}, "--model gaussian"},
		"bounds":      {trainers.Spec{Transform: ordinal, Network: network(), Domain: bounds}, "the latent number of a has no bounds"},
		"law":         {trainers.Spec{Transform: ordinal, Network: network(), Missingness: &missingness.Model{}}, "--missingness"},
		"errors":      {trainers.Spec{Transform: ordinal, Inference: inference.Config{Kind: "robust"}}, "bootstrap=N"},
		"network's":   {trainers.Spec{Transform: ordinal, Network: network(), Inference: inference.Config{Kind: "robust"}}, "bootstrap=N"},
		"no column":   {trainers.Spec{Transform: transform.Spec{Columns: map[string]string{"q": "ordinal"}}, Network: network()}, `ordinal q: there is no column "q"`},
		"many values": {trainers.Spec{Transform: transform.Spec{Others: "ordinal"}, Network: network()}, "at most 40 are taken for ordered categories: treat it as a number"},
	} {
		_, err := trainers.Prepare(table, c.spec)
		require.ErrorContains(t, err, c.want, name)
	}
}

// The mean of a column of numbers is estimated along: one that is missing where another is large
// has an observed mean half a deviation too low. 2000 rows: standard errors of 0.03 deviations.
func TestMeanBesideOrderedCategories(t *testing.T) {
	const n = 2000
	rng := stream.New(5, stream.Simulate)
	table := &data.Table{Names: []string{"x", "y", "a"}, N: n, D: 3}
	for range n {
		x := rng.NormFloat64()
		y, z := .8*x+.6*rng.NormFloat64(), .5*x+.87*rng.NormFloat64()
		a := 0.
		if z > .2 {
			a = 1
		}
		table.Values = append(table.Values, x, 7+3*y, a)
		table.Observed = append(table.Observed, true, x < .3, true)
	}
	spec := trainers.Spec{Transform: transform.Spec{Columns: map[string]string{"a": "ordinal"}}, Network: &regpath.Config{Lambdas: 10}}
	for _, only := range []bool{false, true} {
		spec.Network.PathOnly = only
		r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
		require.NoError(t, err)
		require.InDelta(t, 7, r.Network.Mean[1], 0.3)
		require.InDelta(t, 0, r.Network.Mean[2], 1e-12)
	}
}

// The bootstrap's standard error of a partial correlation of items is the standard deviation of its
// estimates over tables: 120 resamples against 120 tables, so that each is known to 6.5 %, and their
// ratio to a quarter by three of its standard errors.
func TestBootstrapOfOrderedCategories(t *testing.T) {
	const n, times = 300, 120
	draw := func(seed uint64) *data.Table {
		rng := stream.New(seed, stream.Simulate)
		table := &data.Table{Names: []string{"a", "b", "c"}, N: n, D: 3}
		for range n {
			common := rng.NormFloat64()
			for range 3 {
				z, v := common+rng.NormFloat64(), 1.
				for _, cut := range []float64{-1, .3, 1.5} {
					if z > cut {
						v++
					}
				}
				table.Values, table.Observed = append(table.Values, v), append(table.Observed, rng.Float64() > 0.2)
			}
		}
		return table
	}
	s := trainers.Spec{Transform: transform.Spec{Others: "ordinal"}, Steps: engine.Config{Method: "pairwise"},
		Network: &regpath.Config{Lambdas: 4, LambdaMin: 1e-4, Select: regpath.Selection{Kind: "none"}}}
	var over []float64
	for k := range uint64(times) {
		r := estimate(t, draw(k+1), s).Network
		over = append(over, -r.Precision.At(0, 1)/math.Sqrt(r.Precision.At(0, 0)*r.Precision.At(1, 1)))
	}
	s.Inference = inference.Config{Kind: "bootstrap", Resamples: times}
	pair := estimate(t, draw(1), s).Network.Inference.Pairs[0]
	require.InDelta(t, 1, pair.SE/stat.StdDev(over, nil), 0.3, "%v over tables, %v by the bootstrap", stat.StdDev(over, nil), pair.SE)
	require.Less(t, pair.Low, pair.Estimate)
	require.Greater(t, pair.High, pair.Estimate)
}

// Of em-latent, too: every pair has an error, an interval and an inclusion.
func TestBootstrapOfLatent(t *testing.T) {
	s := trainers.Spec{Transform: ordinal, Network: &regpath.Config{Lambdas: 8}, Inference: inference.Config{Kind: "bootstrap", Resamples: 4}}
	for _, p := range estimate(t, items(t, 200), s).Network.Inference.Pairs {
		require.False(t, math.IsNaN(p.SE) || math.IsNaN(p.Low) || math.IsNaN(p.Inclusion))
	}
}
