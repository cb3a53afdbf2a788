package path

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/setting"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

func TestSelections(t *testing.T) {
	for text, want := range map[string]Selection{"ebic": {Kind: "ebic", Gamma: new(0.25)}, "none": {Kind: "none"}, "density=0.25": {Kind: "density", Density: 0.25}} {
		got, err := ParseSelection(text)
		require.NoError(t, err)
		got, err = got.Resolve(400)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"aic", "density", "density=2", "density=x", ""} {
		_, err := ParseSelection(text)
		require.Error(t, err, text)
	}
	_, table := testtables.Star(t, 10, 400, 0.2)
	table, _ = data.Standardise(table)
	r, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Select: Selection{Kind: "density", Density: 0.2}})
	require.InDelta(t, 9, r.State.Points[r.State.Refine.Index].Edges, 2, "of 45 pairs")
}

func TestSelectionDefaults(t *testing.T) {
	for _, c := range []struct{ given, want Selection }{
		{Selection{}, Selection{Kind: "ebic", Gamma: new(DefaultGamma)}},
		{Selection{Gamma: new(0.0)}, Selection{Kind: "ebic", Gamma: new(0.0)}}, // BIC
		{Selection{Kind: "cv"}, Selection{Kind: "cv", Folds: 5}},
		{Selection{Kind: "stars"}, Selection{Kind: "stars", Beta: 0.05}},
		{Selection{Kind: "density"}, Selection{Kind: "density"}},
	} {
		got, err := c.given.Resolve(10)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestConfigRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	for _, c := range []struct {
		steps  engine.Config
		config Config
		want   string
	}{
		{engine.Config{Draws: -1}, Config{}, "draws"},
		{engine.Config{Weighting: "both"}, Config{}, "weighting both: there is no weighting"},
		{engine.Config{Method: "iw", Weighting: "leave-one-out"}, Config{}, "only uniform and leave-one-out can stand for each other"},
		{engine.Config{}, Config{LambdaMax: 1, LambdaMin: 2}, "the largest λ must be at least the smallest"},
		{engine.Config{}, Config{Lambdas: -3}, "lambdas -3: it must not be negative"},
	} {
		c.steps.Method = map[bool]string{true: "var", false: c.steps.Method}[c.steps.Method == ""]
		_, err := New(engine.Problem{Table: table}, c.steps, c.config, &State{})
		require.ErrorContains(t, err, c.want)
	}
	one, err := table.Select(table.Names[:1])
	require.NoError(t, err)
	_, err = New(engine.Problem{Table: one}, engine.Config{Method: "exact"}, Config{}, &State{})
	require.ErrorContains(t, err, "at least two columns")
}

// Settings that cannot be used are named, with their value.
func TestSettingErrors(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	for _, c := range []struct {
		method       string
		config       Config
		field, value string
	}{
		{"exact", Config{Schedule: "fast"}, "schedule", "fast"},
		{"var", Config{Schedule: Accelerated}, "schedule", "accelerated"},
		{"exact", Config{InitialIter: 3}, "schedule", "accelerated"},
		{"var", Config{MaxIter: 3}, "schedule", "fixed"},
		{"exact", Config{MaxIter: -3}, "max_iter", "-3"},
		{"exact", Config{StopTol: -0.5}, "stop_tol", "-0.5"},
		{"var", Config{InitialIter: -2}, "initial_iter", "-2"},
		{"var", Config{IterPerLambda: -1}, "iter_per_lambda", "-1"},
		{"exact", Config{Lambdas: -3}, "lambdas", "-3"},
		{"exact", Config{Rate: -0.1}, "rate", "-0.1"},
		{"exact", Config{Threshold: -1}, "threshold", "-1"},
		{"exact", Config{Floor: -1}, "floor", "-1"},
		{"exact", Config{Tolerance: -1}, "tolerance", "-1"},
		{"exact", Config{Select: Selection{Kind: "aic"}}, "select", "aic"},
		{"exact", Config{Select: Selection{Kind: "ebic", Gamma: new(-0.5)}}, "gamma", "-0.5"},
		{"exact", Config{Select: Selection{Kind: "cv", Folds: 51}}, "select", "cv=51"},
		{"em-full", Config{Select: Selection{Kind: "cv", Folds: 5}}, "select", "cv"},
		{"em-exact", Config{Schedule: Accelerated}, "schedule", "accelerated"},
		{"exact", Config{Select: Selection{Kind: "cv", Folds: 1}}, "select", "cv=1"},
		{"exact", Config{Select: Selection{Kind: "stars", Beta: 0.5}}, "select", "stars=0.5"},
		{"exact", Config{Select: Selection{Kind: "density", Density: 1.5}}, "select", "density=1.5"},
	} {
		r, err := New(engine.Problem{Table: table}, engine.Config{Method: c.method}, c.config, &State{})
		require.Nil(t, r)
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong, "%+v", c)
		require.Equal(t, [2]string{c.field, c.value}, [2]string{wrong.Field, wrong.Value})
	}
	for _, text := range []string{"density=2", "cv=1", "cv=x", "stars=0.7", "aic"} {
		_, err := ParseSelection(text)
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "select", wrong.Field)
		require.Equal(t, text, wrong.Value)
	}
}
