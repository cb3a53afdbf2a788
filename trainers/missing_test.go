package trainers_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
)

// x → y → z with y missing where x < 0: the mean of y is 0, its observed mean about 0.9; x – z is
// no edge.
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

func partialCorrelation(p mat.Symmetric, j, k int) float64 {
	return -p.At(j, k) / math.Sqrt(p.At(j, j)*p.At(k, k))
}

// R's lavaan 0.6-14 (lav_mvnorm_missing_h1_estimate_moments, tol 1e-14, R 4.2.2), and 30 iterations
// of plain EM in base R.
func TestMaximumLikelihoodOfAirQuality(t *testing.T) {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	for name, s := range map[string]trainers.Spec{
		"fit":     {},
		"network": {Network: &regpath.Config{Select: regpath.Selection{Kind: "none"}, Tolerance: 1e-8, Refit: new(true)}, Inference: inference.Config{Kind: "model"}},
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
			if r.Network != nil {
				pair := slices.IndexFunc(r.Network.Network.Pairs, func(e network.Edge) bool {
					return e.From == table.Names[at[0]] && e.To == table.Names[at[1]]
				})
				require.InDelta(t, want, r.Network.Inference.Pairs[pair].Estimate, 1e-6)
			}
		}
		for j, want := range []float64{0.00228663662883047, 0.000143659603080790, 0.125550040778976746, 0.021808389457865333} {
			require.InEpsilon(t, want, m.Precision().At(j, j), 1e-8, name)
		}
	}
}

func TestAssumption(t *testing.T) {
	gaps := hiddenWhereLow(100)
	complete := &data.Table{Names: gaps.Names, N: gaps.N, D: 3, Values: make([]float64, 300), Observed: make([]bool, 300)}
	rng := stream.New(1)
	for i := range complete.Values {
		complete.Values[i], complete.Observed[i] = rng.NormFloat64(), true
	}
	law := missingness.NewLogistic(3)
	law.Intercept[1] = 1
	box := domain.All(3)
	box.Lower[0] = -100
	for name, c := range map[string]struct {
		table  *data.Table
		method string
		spec   trainers.Spec
		want   losses.Assumption
	}{
		"exact":                  {gaps, "exact", trainers.Spec{}, losses.MCAR},
		"em":                     {gaps, "em", trainers.Spec{}, losses.MCAR},
		"em-exact":               {gaps, "em-exact", trainers.Spec{}, losses.MAR},
		"em-full":                {gaps, "em-full", trainers.Spec{}, losses.MAR},
		"network by em-exact":    {gaps, "em-exact", trainers.Spec{Network: &regpath.Config{}}, losses.MAR},
		"a mean that is held":    {gaps, "em-full", trainers.Spec{Network: &regpath.Config{}}, losses.MCAR},
		"a mean on a domain":     {gaps, "em-full", trainers.Spec{Network: &regpath.Config{}, Domain: box}, losses.MAR},
		"zeroed":                 {gaps, "zeroed", trainers.Spec{}, losses.NoneHolds},
		"full":                   {complete, "full", trainers.Spec{}, losses.NoGaps},
		"iw of a complete table": {complete, "iw", trainers.Spec{}, losses.NoGaps},
		"known law":              {gaps, "iw", trainers.Spec{Missingness: &missingness.Model{Logistic: law}}, losses.KnownLaw},
		"estimated law":          {gaps, "iw", trainers.Spec{Missingness: &missingness.Model{Logistic: law, Estimated: true}}, losses.EstimatedLaw},
	} {
		c.spec.Steps.Method = c.method
		p, err := trainers.Prepare(c.table, c.spec)
		require.NoError(t, err, name)
		require.Equal(t, c.want, p.Assumption(), name)
	}
}

func TestWarnsOfCellsMissingAtRandom(t *testing.T) {
	table := hiddenWhereLow(300)
	law := missingness.NewLogistic(3)
	law.Intercept[1] = 0
	law.Slope.Set(1, 0, 3)
	elsewhere := missingness.NewLogistic(3)
	elsewhere.Intercept[0] = 3
	for name, c := range map[string]struct {
		method string
		law    *missingness.Logistic
		warns  bool
	}{
		"exact": {"exact", nil, true}, "iw": {"iw", nil, true}, "em": {"em", nil, true}, "zeroed": {"zeroed", nil, true},
		"em-exact": {"em-exact", nil, false}, "iw with the law": {"iw", law, false}, "iw with another law": {"iw", elsewhere, true},
	} {
		s := trainers.Spec{Steps: engine.Config{Method: c.method, Seed: 1}, Network: &regpath.Config{Lambdas: 3, LambdaMin: 0.05, Select: regpath.Selection{Kind: "none"}, PathOnly: true}}
		if c.law != nil {
			s.Missingness = &missingness.Model{Logistic: c.law}
		}
		r, err := trainers.Estimate(context.Background(), table, s, trainers.Run{})
		require.NoError(t, err, name)
		require.Len(t, r.MissingAtRandom, 1, name)
		require.Equal(t, []string{"y", "x", "low"}, []string{r.MissingAtRandom[0].Name, r.MissingAtRandom[0].Predictor, r.MissingAtRandom[0].Direction})
		require.Equal(t, r.Assumption, r.Model.Outcome.Assumption)
		require.Equal(t, c.warns, len(r.Warnings) > 0 && strings.HasPrefix(r.Warnings[0], "WARNING: cells are not missing completely at random: y is missing more often where x is low (p < 1e-15). Method "+c.method), "%s: %v", name, r.Warnings)
		if c.warns && c.law == nil {
			require.Contains(t, r.Warnings[0], "use Spec.Steps.Method em-exact")
		}
	}
}
