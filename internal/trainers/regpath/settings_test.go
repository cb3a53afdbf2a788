package regpath

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/fuzztest"
	"missingscore/internal/setting"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func FuzzParseSelection(f *testing.F) {
	fuzztest.Reader[Selection]{
		Read: ParseSelection,
		Check: func(t testing.TB, text string, s Selection) {
			require.Contains(t, Selections(), s.Kind)
			again, err := s.Resolve(1000)
			if s.Folds <= 1000 {
				require.NoError(t, err, "%q", text)
				require.Equal(t, s, again, "%q", text)
			}
			require.NotEmpty(t, s.Describe(false, false))
			require.NotEmpty(t, s.Describe(true, true))
		},
		Accepts: []string{"ebic", "cv", "cv=2", "stars", "stars=0.1", "stability", "stability=2", "stability=2@0.9", "stability=@0.6", "fdr", "fdr=0.05", "density=0.5", "density=0", "density=0.0", "none"},
		Refuses: []string{"", "ebic=", "ebic=1", "EBIC", "cv=1", "cv=x", "cv=1e3", "stars=0", "stars=2", "stability=0", "stability=@0.5", "stability=1@", "stability=Inf", "fdr=0", "fdr=1", "fdr=NaN", "density", "density=NaN", "density=2", "none=1"},
	}.Fuzz(f)
}

func FuzzParsePenalty(f *testing.F) {
	fuzztest.Reader[Penalty]{
		Read:    ParsePenalty,
		Write:   func(p Penalty) (string, error) { return p.text(), nil },
		Check:   func(t testing.TB, _ string, p Penalty) { require.Contains(t, Penalties(), p.Kind) },
		Accepts: []string{"l1", "adaptive", "adaptive=0.5", "ridge", "auto"},
		Refuses: []string{"", "l0", "L1", "l1=0.5", "adaptive=", "adaptive=0", "adaptive=1", "adaptive=-0.1", "adaptive=NaN", "adaptive=x", "adaptive=0.5=0.5"},
	}.Fuzz(f)
}

func TestTheUsualPenalty(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	_, wide := testtables.Star(t, usualColumns+1, 20, 0.1)
	_, full := testtables.Star(t, 4, 50, 0)
	box := &domain.Domain{Lower: slices.Repeat([]float64{-9}, 4), Upper: slices.Repeat([]float64{9}, 4)}
	beyond := box.Censoring(slices.Repeat([]float64{-5}, 4), slices.Repeat([]float64{5}, 4))
	for name, c := range map[string]struct {
		want   string
		table  *data.Table
		domain *domain.Domain
		method string
		config Config
	}{
		"gaps":        {auto, table, nil, "em-exact", Config{}},
		"marginal":    {auto, table, nil, "exact", Config{Select: Selection{Kind: "cv"}}},
		"draws":       {l1, table, nil, "iw", Config{}},
		"bounds":      {ridge, table, box, "em-exact-mc", Config{}},
		"its draws":   {l1, table, box, "iw", Config{}},
		"no gaps":     {l1, full, box, "full", Config{}},
		"thresholds":  {l1, table, beyond, "em-exact-mc", Config{}},
		"own λ":       {l1, table, nil, "em-exact", Config{LambdaMin: 0.1}},
		"the paper's": {l1, table, nil, "exact", Config{Schedule: Fixed}},
		"wide":        {l1, wide, nil, "em-exact", Config{}},
		"named":       {ridge, table, nil, "em-exact", Config{Penalty: Penalty{Kind: ridge}}},
	} {
		got, _, err := c.config.resolve(engine.Problem{Table: c.table, Domain: c.domain, Objective: losses.ObjectiveFor(c.domain, domain.Weight{})}, engine.Config{Method: c.method})
		require.NoError(t, err, name)
		require.Equal(t, c.want, got.Penalty.Kind, name)
	}
}

func TestRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	_, few := testtables.Star(t, 4, 7, 0)
	by := func(kind string) Penalty { return Penalty{Kind: kind} }
	own := func(kind string) Selection { return Selection{Kind: kind} }
	for _, c := range []struct {
		method string
		config Config
		want   string
	}{
		{"exact", Config{Schedule: "fast"}, "schedule fast: it is one of accelerated, em, fixed"},
		{"var", Config{Schedule: Accelerated}, "schedule accelerated: the gradients of method var are noisy"},
		{"em-exact", Config{Schedule: Accelerated}, "schedule accelerated: method em-exact solves an equation"},
		{"exact", Config{Schedule: EM}, "schedule em: the loss of method exact has no expectation step"},
		{"exact", Config{Schedule: Moments}, "schedule moments: method exact needs the rows; use another schedule"},
		{"exact", Config{InitialIter: 3}, "initial_iter 3 and iter_per_lambda 0 are for the fixed"},
		{"iw", Config{StopTol: 0.1}, "max_iter 0 and stop_tol 0.1 are for other schedules"},
		{"exact", Config{MaxIter: -3}, "max_iter -3: it must be positive"},
		{"exact", Config{StopTol: -0.5}, "stop_tol -0.5"},
		{"var", Config{InitialIter: -2}, "initial_iter -2"},
		{"var", Config{IterPerLambda: -1}, "iter_per_lambda -1"},
		{"exact", Config{Lambdas: -3}, "lambdas -3: it must not be negative"},
		{"exact", Config{Rate: -0.1}, "rate -0.1"},
		{"exact", Config{Threshold: -1}, "threshold -1"},
		{"exact", Config{Floor: -1}, "floor -1"},
		{"exact", Config{Tolerance: -1}, "tolerance -1"},
		{"exact", Config{Select: own("aic")}, "select aic"},
		{"exact", Config{Select: Selection{Kind: "ebic", Gamma: new(-0.5)}}, "gamma -0.5"},
		{"exact", Config{Select: Selection{Kind: "cv", Folds: 51}}, "select cv=51"},
		{"em-full", Config{Select: own("cv")}, "select cv: method em-full solves an equation"},
		{"em-exact", Config{Select: own("stability"), Refit: new(false)}, "leave Spec.Network.Refit=false out"},
		{"em-exact", Config{Select: own("stability"), PathOnly: true}, "select stability: its edges belong to no point of the path"},
		{"em-exact", Config{Select: own("fdr"), Refit: new(false)}, "select fdr: the sizes of its edges need a refit"},
		{"exact", Config{Penalty: by(auto), LambdaMin: 0.1}, "penalty auto: each penalty has its own λ"},
		{"iw", Config{Penalty: by(auto)}, "penalty auto: it cannot compare the noisy paths of method iw;"},
		{"exact", Config{Penalty: by(ridge), Select: own("cv")}, "penalty ridge: its networks have no held-out loss"},
		{"exact", Config{Penalty: Penalty{Kind: ridge, Alpha: 0.5}, PathOnly: true}, "penalty ridge=0.5: its path needs the refit"},
		{"exact", Config{Penalty: by(ridge), Refit: new(false)}, "penalty ridge: the sizes of its edges need a refit"},
		{"exact", Config{Penalty: by("l2")}, "penalty l2: it is one of l1, adaptive, ridge, auto"},
		{"pairwise", Config{Penalty: by(ridge)}, "penalty ridge: its pilot needs the rows, but method pairwise uses moments of pairs; use l1"},
		{"pairwise", Config{Schedule: EM}, "use moments"},
		{"pairwise", Config{Schedule: Fixed}, "schedule fixed: method pairwise uses moments of pairs of columns; use moments"},
	} {
		_, err := New(engine.Problem{Table: table}, engine.Config{Method: c.method}, c.config, &State{})
		require.ErrorContains(t, err, c.want)
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong, c.want)
	}
	box := &domain.Domain{Lower: slices.Repeat([]float64{-9}, 4), Upper: slices.Repeat([]float64{9}, 4)}
	one := testtables.Must(table.Select(table.Names[:1]))
	for want, c := range map[string]struct {
		problem engine.Problem
		config  Config
	}{
		"penalty auto: it compares likelihoods, which are unknown with bounds": {
			engine.Problem{Table: table, Domain: box}, Config{Penalty: by(auto)}},
		"stability needs at least 8": {engine.Problem{Table: few}, Config{Select: own("stability")}},
		"at least two columns":       {engine.Problem{Table: one}, Config{}},
	} {
		_, err := New(c.problem, engine.Config{Method: "exact"}, c.config, &State{})
		require.ErrorContains(t, err, want)
	}
	r := started(t, table, "exact", Config{Penalty: by(adaptive), LambdaMin: 1e9}, &State{})
	_, err := r.Estimate(t.Context(), func() error { return nil })
	require.ErrorIs(t, err, ErrLambdas, "the largest λ is known after the pilot")
}
