package trainers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
)

var robust = inference.Config{Kind: "robust"}

// slow asks for tests of minutes: MISSINGSCORE_SLOW=1.
func slow() bool { return os.Getenv("MISSINGSCORE_SLOW") != "" }

// coverage makes fits of a model to tables that its truth draws, and gives the share of 95 %
// intervals that cover, its standard error over tables, that of independent intervals which
// cover as they say at least, and how many tables have none.
func coverage(t *testing.T, s trainers.Spec, truth model.Parametric, tables int, missing float64, draw func(seed uint64) *data.Table) (share, se float64, none int) {
	t.Helper()
	var want []float64
	for _, q := range truth.Quantities() {
		for i, v := range q.Value {
			if !q.Symmetric || i%q.Cols >= i/q.Cols {
				want = append(want, v)
			}
		}
	}
	s.Inference = robust
	var shares []float64
	for k := range uint64(tables) {
		table, err := data.HideMCAR(draw(k), missing, stream.New(k, stream.Hide))
		require.NoError(t, err)
		s.Steps.Seed = k
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		u := r.Model.Uncertainty
		if u == nil {
			require.Contains(t, strings.Join(r.Warnings, "\n"), "no standard errors: ")
			none++
			continue
		}
		require.Len(t, u.Parameters, len(want))
		covered := 0.
		for i, p := range u.Parameters {
			at := i
			if m, ok := r.Model.Model.(*model.Mixture); ok && m.Means.Value[0] > 0 { // the truth's first component is on the left
				at = exchanged(i, truth.Dim())
			}
			if p.Low <= want[at] && want[at] <= p.High {
				covered += 1 / float64(len(want))
			}
		}
		shares = append(shares, covered)
	}
	mean, sd := stat.MeanStdDev(shares, nil)
	n := float64(len(shares))
	return mean, max(sd/math.Sqrt(n), math.Sqrt(0.95*0.05/n/float64(len(want)))), none
}

// exchanged is the place of a parameter of two components in d columns where these change places.
func exchanged(i, d int) int {
	switch {
	case i < 2:
		return 1 - i
	case (i-2)/d%2 == 0:
		return i + d
	}
	return i - d
}

// Intervals of fits cover as often as they say, within three standard errors. With
// MISSINGSCORE_SLOW=1 there are many tables, and fits by Adam are among them.
func TestCoverageOfParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of estimates, not of workers")
	}
	g, err := simulate.Normal(5, stream.New(11, stream.Simulate))
	require.NoError(t, err)
	normal := testtables.At(t, g)
	theta, err := simulate.Quartic(3, stream.New(11, stream.Simulate))
	require.NoError(t, err)
	quartic := model.NewQuartic(3)
	require.NoError(t, quartic.SetTheta(theta))
	mixed := simulate.Mixture{Weights: []float64{0.6, 0.4}, Means: [][]float64{{-1.5, 0.5}, {1.5, -0.5}}, Deviations: [][]float64{{0.8, 1}, {0.7, 0.6}}}
	mixture, err := model.NewMixture(mixed)
	require.NoError(t, err)
	const n = 500
	for _, c := range []struct {
		truth       model.Parametric
		method      string
		missing     float64
		least, many int // tables; none: of the slow test only
	}{
		{normal, "em-exact", 0.3, 40, 400}, {normal, "exact", 0.3, 40, 400}, {normal, "iw", 0.3, 0, 60}, {normal, "em-full", 0.3, 0, 60},
		{quartic, "full", 0, 20, 200}, {quartic, "iw", 0.3, 0, 100}, {quartic, "em-full", 0.3, 0, 100},
		{mixture, "full", 0, 0, 200}, {mixture, "em-full", 0.3, 0, 60},
	} {
		s := trainers.Spec{}
		s.Steps.Method = c.method
		var draw func(seed uint64) *data.Table
		tables := c.least
		if slow() {
			tables = c.many
		}
		if tables == 0 {
			continue
		}
		switch c.truth {
		case normal:
			draw = func(k uint64) *data.Table { return sampled(t, g.Sample, n, k) }
		case quartic:
			s.Model.Kind = "quartic"
			draw = fromChains(t, quartic, n, tables)
		default:
			s.Model = trainers.ModelSpec{Kind: "mixture", Options: []byte(`{"components":2}`)}
			draw = func(k uint64) *data.Table { return sampled(t, mixed.Sample, n, k) }
		}
		name := fmt.Sprintf("%T by %s", c.truth, c.method)
		share, se, none := coverage(t, s, c.truth, tables, c.missing, draw)
		t.Logf("%s, %.0f %% missing: %.3f (standard error %.3f) in %d tables, none in %d", name, 100*c.missing, share, se, tables-none, none)
		if c.truth == mixture { // some fits end in other minima of the loss
			require.Greater(t, share, 0.85, name)
			continue
		}
		require.LessOrEqual(t, none, max(1, tables/20), name)
		require.InDelta(t, 0.95, share, 3*se+0.005, name)
	}
}

func sampled(t *testing.T, sample func(int, *rand.Rand) (*data.Table, error), n int, seed uint64) *data.Table {
	t.Helper()
	table, err := sample(n, stream.New(seed, stream.Simulate, 5))
	require.NoError(t, err)
	return table
}

// fromChains are tables of a quartic model, of draws of Markov chains in random order.
func fromChains(t *testing.T, m *model.Quartic, n, tables int) func(uint64) *data.Table {
	t.Helper()
	saved := fitted.Saved{Kind: "quartic", Model: m}
	for j := range m.Dim() {
		saved.Names = append(saved.Names, fmt.Sprint("x", j+1))
	}
	all, _, err := saved.Sample(t.Context(), n*tables, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	order := stream.New(4, stream.Simulate).Perm(n * tables)
	return func(k uint64) *data.Table {
		table, err := all.Rows(order[int(k)*n : int(k+1)*n])
		require.NoError(t, err)
		return table
	}
}

// Parameters come back from a model's file with all that is known of them, and files without
// are as they were.
func TestParametersInFiles(t *testing.T) {
	_, table := testtables.Normal(t, 120, 3)
	s := trainers.Spec{Inference: inference.Config{Kind: "robust", Level: 0.9}}
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, r.Save(path))
	again, err := fitted.Load(path)
	require.NoError(t, err)
	require.Equal(t, r.Model.Uncertainty.Parameters, again.Uncertainty.Parameters)
	require.Equal(t, 0.9, again.Uncertainty.Level)
	require.Equal(t, r.Model.Uncertainty.Covariance, again.Uncertainty.Covariance)
	require.InDelta(t, r.Model.Model.(*model.Gaussian).Mean()[0], again.Uncertainty.Parameters[0].Estimate, 1e-9, "a fit without noise ends at the root")

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for from, to := range map[string]string{
		`"level": 0.9`:  `"level": 9`,
		`"se": 0.`:      `"se": -0.`,
		`"parameters":`: `"parametres":`,
	} {
		broken := strings.Replace(string(text), from, to, 1)
		require.NotEqual(t, string(text), broken)
		require.NoError(t, os.WriteFile(path, []byte(broken), 0o600))
		_, err := fitted.Load(path)
		if from == `"parameters":` {
			require.ErrorContains(t, err, "inference: the covariance has 14 rows for 0 parameters")
			continue
		}
		require.ErrorContains(t, err, "inference: ")
	}

	s.Inference = inference.Config{}
	r, err = trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.Nil(t, r.Model.Uncertainty)
	plain, err := r.Encode()
	require.NoError(t, err)
	require.NotContains(t, string(plain), `"inference"`)
}

// What has no standard errors is refused before it is fitted.
func TestNoStandardErrors(t *testing.T) {
	_, table := testtables.Normal(t, 60, 3)
	_, law, _ := testtables.Pair()
	two, err := table.Select([]string{table.Names[0], table.Names[1]})
	require.NoError(t, err)
	for want, change := range map[string]func(*trainers.Spec) *data.Table{
		"for the parameters of a fit it is none or robust": func(s *trainers.Spec) *data.Table { s.Inference.Kind = "model"; return table },
		"the parameters of model energy are not determined": func(s *trainers.Spec) *data.Table {
			s.Model.Kind = "energy"
			return table
		},
		"take --method variw":             func(s *trainers.Spec) *data.Table { s.Steps.Method = "var"; return table },
		"take --method em-variw":          func(s *trainers.Spec) *data.Table { s.Steps.Method = "em-chains"; return table },
		"method zeroed is biased":         func(s *trainers.Spec) *data.Table { s.Steps.Method = "zeroed"; return table },
		"leave --keep-units out":          func(s *trainers.Spec) *data.Table { s.KeepUnits = true; return table },
		"the objective draws at random":   func(s *trainers.Spec) *data.Table { s.Objective.Kind = "sliced"; return table },
		"missing by a known law":          func(s *trainers.Spec) *data.Table { s.Missingness = law; return two },
		"it is of networks; leave it out": func(s *trainers.Spec) *data.Table { s.Inference.Stability = 50; return table },
	} {
		s := trainers.Spec{Inference: robust}
		x := change(&s)
		_, err := trainers.Prepare(x, s)
		var setting *trainers.SettingError
		require.ErrorAs(t, err, &setting, want)
		require.ErrorContains(t, err, want)
	}
}

// Where cells are missing by other columns, a method that rests on MCAR says that its errors
// do, too; one that is right there does not.
func TestErrorsUnderMAR(t *testing.T) {
	table := hiddenBelow(t)
	for method, warned := range map[string]bool{"exact": true, "em-exact": false} {
		s := trainers.Spec{Inference: robust}
		s.Steps.Method = method
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		said := strings.Contains(strings.Join(r.Warnings, "\n"), "WARNING: cells are not missing completely at random, and standard errors")
		require.Equal(t, warned, said, method)
	}
}

// hiddenBelow is x → y with y missing where x is below 0.
func hiddenBelow(t *testing.T) *data.Table {
	t.Helper()
	rng := stream.New(1, stream.Simulate)
	var x []float64
	var seen []bool
	for range 300 {
		a := rng.NormFloat64()
		x = append(x, a, a+rng.NormFloat64())
		seen = append(seen, true, a > 0 || rng.Float64() < 0.2)
	}
	table, err := data.NewTable([]string{"x", "y"}, x, seen)
	require.NoError(t, err)
	return table
}
