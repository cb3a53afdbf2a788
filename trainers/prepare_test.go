package trainers_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/memory"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
)

func TestAutoMethod(t *testing.T) {
	_, complete := testtables.Normal(t, 30, 24)
	_, holes := testtables.Normal(t, 30, 24)
	for i := range complete.Observed {
		complete.Observed[i] = true
	}
	known := &missingness.Model{Logistic: missingness.NewLogistic(4)}
	cut := &missingness.Model{Censored: missingness.NewCensored(4)}
	cut.Censored.Above[3] = 1e3
	for _, c := range []struct {
		kind     string
		told     *missingness.Model
		complete bool
		want     string
	}{
		{"gaussian", nil, true, "full"}, {"gaussian", nil, false, "em-exact"}, {"gaussian", known, false, "variw"}, {"gaussian", cut, false, "exact-mc"},
		{"gaussian-natural", nil, false, "em-exact"}, {"quartic", nil, false, "em-full"}, {"quartic", known, false, "variw"}, {"quartic", nil, true, "full"},
		{"mixture", nil, false, "em-exact"}, {"energy", nil, false, "em-var"}, {"energy", known, false, "variw"}, {"energy", nil, true, "full"},
		{"score-network", nil, false, "zeroed"}, {"score-network", nil, true, "full"},
	} {
		table := holes
		if c.complete {
			table = complete
		}
		p, err := trainers.Prepare(table, trainers.Spec{Model: trainers.ModelSpec{Kind: c.kind}, Missingness: c.told})
		require.NoError(t, err)
		require.Equal(t, c.want, p.Estimator.Name, "%+v", c)
	}

	// Draws of an imputer are weighted in the plane, on a domain and with the sliced objective.
	bounded := domain.All(holes.D)
	bounded.Lower[0] = -1e3
	plane, err := holes.Select(holes.Names[:2])
	require.NoError(t, err)
	for _, c := range []struct {
		table *data.Table
		spec  trainers.Spec
	}{
		{plane, trainers.Spec{}}, {holes, trainers.Spec{Domain: bounded}}, {holes, trainers.Spec{Objective: trainers.ObjectiveSpec{Kind: "sliced"}}},
	} {
		c.spec.Model.Kind = "energy"
		p, err := trainers.Prepare(c.table, c.spec)
		require.NoError(t, err)
		require.Equal(t, "em-variw", p.Estimator.Name, "%+v", c)
	}
}

func TestDefaultImputer(t *testing.T) {
	_, table := testtables.Normal(t, 30, 24)
	bounded := domain.All(table.D)
	bounded.Lower[0] = -1e3
	for _, c := range []struct {
		kind, method string
		domain       *domain.Domain
		loss         losses.ImputerLoss
		asked, want  string
	}{
		{kind: "energy", method: "em-variw", want: "mixture"}, {kind: "energy", method: "em-var", want: "mixture"}, {kind: "energy", want: "mixture"},
		{kind: "quartic", method: "em-variw", want: "mixture"}, {kind: "energy", method: "variw", want: "normal"}, {kind: "energy", method: "var", want: "normal"},
		{kind: "gaussian", method: "em-variw", want: "normal"}, {kind: "energy", method: "em-variw", domain: bounded, want: "normal"},
		{kind: "energy", method: "em-variw", loss: losses.Fisher, want: "normal"}, {kind: "energy", method: "em-variw", asked: "linear", want: "linear"},
		{kind: "energy", method: "em-full", want: "normal"}, // no imputer is trained
	} {
		p, err := trainers.Prepare(table, trainers.Spec{Model: trainers.ModelSpec{Kind: c.kind}, Domain: c.domain,
			Steps: engine.Config{Method: c.method, ImputerLoss: c.loss, Imputer: engine.ImputerSpec{Kind: c.asked}}})
		require.NoError(t, err)
		require.Equal(t, c.want, p.Spec.Steps.Imputer.Kind, "%+v", c)
	}
}

func TestWarnsOfColumnsNeverTogether(t *testing.T) {
	_, table := testtables.Normal(t, 60, 24)
	for i := range table.N {
		if i%2 == 0 {
			table.Observed[i*4] = false
		} else {
			table.Observed[i*4+2] = false
		}
	}
	const want = "x1 and x3 are never observed in the same row: their partial correlation is not determined by the data"
	for _, s := range []trainers.Spec{{Descent: descent.Passes(1, 0)}, {Network: &regpath.Config{Lambdas: 3}}} {
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.Contains(t, r.Warnings, want)
	}
}

func TestMemoryIsCheckedFirst(t *testing.T) {
	t.Setenv(memory.Variable, "2GB")
	const d = 100_000
	wide := &data.Table{N: 4, D: d}
	for j := range d {
		wide.Names = append(wide.Names, "x"+strings.Repeat("y", j%7))
	}
	wide.Values, wide.Observed = make([]float64, 4*d), slices.Repeat([]bool{true}, 4*d)
	_, narrow := testtables.Star(t, 3, 50, 0.2)
	for name, c := range map[string]struct {
		table *data.Table
		spec  trainers.Spec
		want  string
	}{
		"network":  {wide, trainers.Spec{Network: &regpath.Config{Lambdas: 100}}, "model gaussian: a matrix of 100000 columns needs about 40 GB of memory, but only 2 GB is available: take fewer columns"},
		"gaussian": {wide, trainers.Spec{}, "a matrix of 100000 columns needs about 40 GB"},
		"quartic":  {wide, trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}}, "a matrix of 100000 columns needs about 40 GB"},
		"energy": {narrow, trainers.Spec{Model: trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[10000,10000,10000,10000,10000]}`)}},
			"a network of 5 hidden layers for 3 columns needs about 3.2 GB"},
		"path": {narrow, trainers.Spec{Network: &regpath.Config{Lambdas: 1 << 30}}, "a network of 3 columns from 50 rows along 1.073741824e+09 λ needs about"},
		"resamples": {narrow, trainers.Spec{Network: &regpath.Config{}, Inference: inference.Config{Kind: "bootstrap", Resamples: 1 << 30}},
			"1073741824 resamples of a network of 3 columns from 50 rows needs about"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := trainers.Prepare(c.table, c.spec)
		runtime.ReadMemStats(&after)
		var large *memory.Error
		require.ErrorAs(t, err, &large, name)
		require.ErrorContains(t, err, c.want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50e6), name)
	}
}

func TestNoTable(t *testing.T) {
	for _, s := range []trainers.Spec{{}, {Network: &regpath.Config{}}} {
		_, err := trainers.Estimate(t.Context(), nil, s, trainers.Run{})
		require.ErrorContains(t, err, "the table is nil")
	}
}
