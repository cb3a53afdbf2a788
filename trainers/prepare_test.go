package trainers_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
)

// Empty wants are not compared.
func TestDefaults(t *testing.T) {
	_, gaps := testtables.Normal(t, 150, 11)
	complete := *gaps
	complete.Observed = slices.Repeat([]bool{true}, len(gaps.Observed))
	plane := testtables.Must(gaps.Select(gaps.Names[:2]))
	known := &missingness.Model{Logistic: missingness.NewLogistic(4)}
	cut := &missingness.Model{Censored: domain.All(4)}
	cut.Censored.Upper[3] = 1e3
	bounded := domain.All(4)
	bounded.Lower[0] = -1e3
	type spec = trainers.Spec
	of := func(kind string, change func(s *spec)) spec {
		s := spec{Model: trainers.ModelSpec{Kind: kind}}
		if change != nil {
			change(&s)
		}
		return s
	}
	by := func(kind, method string) spec { return of(kind, func(s *spec) { s.Steps.Method = method }) }
	told := func(kind string, law *missingness.Model) spec {
		return of(kind, func(s *spec) { s.Missingness = law })
	}
	sliced := func(s *spec) { s.Objective.Kind = "sliced" }
	three := func(s *spec) { s.Descent = descent.Passes(3, 0) }
	within := func(s *spec) { s.Domain = bounded }
	for _, c := range []struct {
		table                      *data.Table
		spec                       spec
		method, optimiser, imputer string
		validation                 float64 // of adam
	}{
		{&complete, of("gaussian", nil), "full", "", "", 0},
		{gaps, of("gaussian", nil), "em-exact", "em", "", 0},
		{gaps, told("gaussian", known), "variw", "", "", 0},
		{gaps, told("gaussian", cut), "exact-mc", "", "", 0},
		{gaps, of("gaussian-natural", nil), "em-exact", "", "", 0},
		{gaps, of("gaussian", three), "em-exact", "adam", "", 0},
		{gaps, of("gaussian", within), "em-exact-mc", "", "", 0},
		{gaps, by("gaussian", "iw"), "iw", "adam", "", 0},
		{gaps, by("gaussian", "zeroed"), "zeroed", "lbfgs", "", 0},
		{gaps, of("gaussian", func(s *spec) { s.Steps.Method = "zeroed"; sliced(s) }), "zeroed", "adam", "", 0},
		{gaps, of("gaussian", func(s *spec) { s.Steps.Method = "zeroed"; three(s) }), "zeroed", "adam", "", 0},
		{gaps, of("quartic", nil), "em-full", "", "", 0},
		{gaps, told("quartic", known), "variw", "", "", 0},
		{&complete, of("quartic", nil), "full", "", "", 0},
		{gaps, of("quartic", func(s *spec) { s.Steps.Method, s.KeepUnits = "zeroed", true }), "", "lbfgs", "", 0},
		{gaps, of("mixture", nil), "em-exact", "", "", 0},
		{gaps, by("mixture", "iw"), "iw", "adam", "", 0.1},
		{gaps, of("energy", nil), "em-var", "", "mixture", 0},
		{gaps, told("energy", known), "variw", "", "", 0},
		{&complete, of("energy", nil), "full", "", "", 0},
		{gaps, by("energy", "zeroed"), "zeroed", "adam", "", 0.1},
		{gaps, of("score-network", nil), "zeroed", "", "", 0},
		{&complete, of("score-network", nil), "full", "", "", 0},
		// Draws of an imputer are weighted in the plane, on a domain and with the sliced objective.
		{plane, of("energy", nil), "em-variw", "", "", 0},
		{gaps, of("energy", within), "em-variw", "", "normal", 0},
		{gaps, of("energy", sliced), "em-variw", "", "", 0},
		{gaps, by("energy", "em-variw"), "em-variw", "", "mixture", 0},
		{gaps, by("energy", "em-var"), "em-var", "", "mixture", 0},
		{gaps, by("energy", "variw"), "variw", "", "normal", 0},
		{gaps, by("energy", "var"), "var", "", "normal", 0},
		{gaps, by("quartic", "em-variw"), "em-variw", "", "mixture", 0},
		{gaps, by("gaussian", "em-variw"), "em-variw", "", "normal", 0},
		{gaps, by("energy", "em-full"), "em-full", "", "normal", 0}, // no imputer is trained
		{gaps, of("energy", func(s *spec) { s.Steps.ImputerLoss = losses.Fisher }), "em-var", "", "normal", 0},
		{gaps, of("energy", func(s *spec) { s.Steps.Imputer.Kind = "linear" }), "em-var", "", "linear", 0},
	} {
		p := prepare(t, c.table, c.spec)
		d := p.Spec.Descent
		require.Contains(t, []string{"", p.Estimator.Name}, c.method, "%+v", c)
		require.Contains(t, []string{"", d.Optimiser}, c.optimiser, "%+v", c)
		require.Contains(t, []string{"", p.Spec.Steps.Imputer.Kind}, c.imputer, "%+v", c)
		if c.optimiser == "adam" {
			require.Equal(t, c.validation, *d.Validation, "%+v", c)
		}
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
		r := estimate(t, table, s)
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

// Also for defaults written out.
func TestResolvedSpecsAreRead(t *testing.T) {
	_, table := testtables.Normal(t, 300, 3)
	low := domain.All(4)
	low.Lower[0] = -20
	for _, s := range []trainers.Spec{
		{}, {Steps: engine.Config{Method: "iw"}}, {Steps: engine.Config{Method: "var"}}, {Steps: engine.Config{Method: "exact"}}, {Network: &regpath.Config{}},
		{Steps: engine.Config{Method: "iw", FreeDraws: true, Draws: 3, DType: graph.Float32}, Domain: low},
		{Steps: engine.Config{Draws: 10, ImputerSteps: 10, ProposalSD: 1, WarmUp: new(500), Imputer: engine.ImputerSpec{Options: json.RawMessage("")}}},
		{Model: trainers.ModelSpec{Kind: "mixture"}, Steps: engine.Config{Draws: 10}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "fdr"}}, Inference: inference.Config{Level: 0.9}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "cv"}}, Inference: inference.Config{Kind: "auto", Level: 0.9}},
	} {
		p := prepare(t, table, s)
		p.Spec.Objective.Kind = "auto" // networks and mixtures take no other
		prepare(t, table, p.Spec)
	}
}
