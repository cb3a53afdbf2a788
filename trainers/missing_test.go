package trainers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
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
func TestRefitIsMaximumLikelihoodOfAirQuality(t *testing.T) {
	c := regpath.Config{Select: regpath.Selection{Kind: "none"}, Tolerance: 1e-8, Refit: new(true)}
	r := estimate(t, airQuality(), trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Network: &c})
	require.True(t, r.Converged, r.Verdict)
	m := r.Model.Model.(*model.Gaussian)
	var diagonal, partial []float64
	for j := range 4 {
		diagonal = append(diagonal, m.Precision().At(j, j))
		for k := range j {
			partial = append(partial, partialCorrelation(m.Precision(), j, k))
		}
	}
	means := []float64{41.87117301959793, 184.84680624984503, 9.95751633986928, 77.88235294117646}
	require.InEpsilonSlice(t, means, m.Mean(), 1e-8)
	require.InEpsilonSlice(t, []float64{0.00228663662883047, 0.000143659603080790, 0.125550040778976746,
		0.021808389457865333}, diagonal, 1e-8)
	require.InDeltaSlice(t, []float64{0.243185474455124, -0.420068166088964, 0.178086106761174,
		0.537797610044597, 0.104527350308330, -0.127407159724551}, partial, 1e-8)
}

func TestAssumption(t *testing.T) {
	gaps := hiddenWhereLow(100)
	complete := tenRows(t)
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
		p := prepare(t, c.table, c.spec)
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
		r := estimate(t, table, s)
		require.Len(t, r.MissingAtRandom, 1, name)
		require.Equal(t, []string{"y", "x", "low"}, []string{r.MissingAtRandom[0].Name, r.MissingAtRandom[0].Predictor, r.MissingAtRandom[0].Direction})
		require.Equal(t, r.Assumption, r.Model.Outcome.Assumption)
		require.Equal(t, c.warns, len(r.Warnings) > 0 && strings.HasPrefix(r.Warnings[0], "WARNING: cells are not missing completely at random: y is missing more often where x is low (p < 1e-15). Method "+c.method), "%s: %v", name, r.Warnings)
		if c.warns && c.law == nil {
			require.Contains(t, r.Warnings[0], "use Spec.Steps.Method em-exact")
		}
	}
	for method, warned := range map[string]bool{"exact": true, "em-exact": false} {
		s := trainers.Spec{Steps: engine.Config{Method: method}, Inference: inference.Config{Kind: "robust"}}
		said := strings.Join(estimate(t, table, s).Warnings, "\n")
		const words = "WARNING: cells are not missing completely at random, so standard errors"
		require.Equal(t, warned, strings.Contains(said, words), method)
	}
}
