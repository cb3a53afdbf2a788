package trainers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/path"
)

// The default method knows the table, the model and the objective.
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
}

// Settings that cannot be used are named, whichever part they are of.
func TestSettingErrors(t *testing.T) {
	_, table := testtables.Normal(t, 30, 24)
	for _, c := range []struct {
		spec  trainers.Spec
		field string
	}{
		{trainers.Spec{Model: trainers.ModelSpec{Kind: "moon"}}, "model"},
		{trainers.Spec{Objective: trainers.ObjectiveSpec{Kind: "moon"}}, "objective"},
		{trainers.Spec{Steps: engine.Config{Method: "vae"}}, "method"},
		{trainers.Spec{Model: trainers.ModelSpec{New: func(int) (model.Model, error) { return nil, nil }}}, "model"},
		{trainers.Spec{Model: trainers.ModelSpec{New: func(int) (model.Model, error) { return model.NewQuartic(5), nil }}}, "model"},
		{trainers.Spec{Objective: trainers.ObjectiveSpec{New: func(losses.ObjectiveSetting) (losses.Objective, error) { return nil, nil }}}, "objective"},
		{trainers.Spec{Weight: domain.Weight{Cap: -1}}, "g_cap"},
		{trainers.Spec{Steps: engine.Config{Method: "exact-mc", Weighting: "leave-one-out", Draws: 2}}, "draws"},
		{trainers.Spec{Steps: engine.Config{ProposalSD: -1}}, "proposal_sd"},
		{trainers.Spec{Descent: descent.Config{Epochs: -1}}, "epochs"},
		{trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}, Network: &path.Config{}}, "model"},
		{trainers.Spec{Objective: trainers.ObjectiveSpec{Kind: "classical"}, Network: &path.Config{}}, "objective"},
		{trainers.Spec{Network: &path.Config{Select: path.Selection{Kind: "cv", Folds: 31}}}, "select"},
		{trainers.Spec{Network: &path.Config{Lambdas: -1}}, "lambdas"},
	} {
		_, err := trainers.Estimate(t.Context(), table, c.spec, trainers.Run{})
		var wrong *trainers.SettingError
		require.ErrorAs(t, err, &wrong, "%+v", c)
		require.Equal(t, c.field, wrong.Field)
	}
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &path.Config{}, Truth: &evaluate.Truth{}}, trainers.Run{})
	require.ErrorContains(t, err, "by NetworkResult.Rates")
}

// Columns that no row shows together are told by their names, of networks and of fits.
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
	for _, s := range []trainers.Spec{{Descent: descent.Passes(1, 0)}, {Network: &path.Config{Lambdas: 3}}} {
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.Contains(t, r.Warnings, want)
	}
}

// An objective of one's own is not recorded as the one that auto would take.
func TestOwnObjectiveIsNotAuto(t *testing.T) {
	_, table := testtables.Star(t, 3, 20, 0.3)
	p, err := trainers.Prepare(table, trainers.Spec{Objective: trainers.ObjectiveSpec{New: func(losses.ObjectiveSetting) (losses.Objective, error) { return losses.Classical{}, nil }}})
	require.NoError(t, err)
	require.Empty(t, p.Spec.Objective.Kind)
}
