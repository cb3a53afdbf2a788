package trainers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// What an estimate takes missing cells for follows from method, law, table and, for a
// network, from whether the mean is estimated along.
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

// Every method that takes cells to be missing completely at random warns of a table that
// says otherwise, and no other; a law that explains the gaps quiets it.
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
			require.Contains(t, r.Warnings[0], "use --method em-exact")
		}
	}

	random, err := data.HideMCAR(&data.Table{Names: table.Names, N: 300, D: 3, Values: stepless(300), Observed: seen(900)}, 0.3, stream.New(5))
	require.NoError(t, err)
	r, err := trainers.Estimate(context.Background(), random, trainers.Spec{Network: &regpath.Config{Lambdas: 3, PathOnly: true}}, trainers.Run{})
	require.NoError(t, err)
	require.Len(t, r.MissingAtRandom, 3)
	require.NotContains(t, strings.Join(r.Warnings, " "), "WARNING")
}

// stepless are values of the columns of hiddenWhereLow, all of them.
func stepless(n int) (values []float64) {
	rng := stream.New(12)
	for range n {
		x := rng.NormFloat64()
		y := 1.155*x + rng.NormFloat64()
		values = append(values, x, y, 1.155*y+rng.NormFloat64())
	}
	return values
}

func seen(n int) []bool {
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	return all
}
