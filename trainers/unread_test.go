package trainers_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/penalty"
)

func gappy(t *testing.T) *data.Table {
	t.Helper()
	whole := make([]float64, 60*3)
	rng := stream.New(5)
	for i := range whole {
		whole[i] = rng.NormFloat64()
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, whole, nil)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.1, rng)
	require.NoError(t, err)
	return table
}

func TestUnreadSettings(t *testing.T) {
	table := gappy(t)
	for _, c := range []struct {
		field string
		spec  trainers.Spec
		set   func(s *trainers.Spec)
	}{
		{"draws", fitBy("em-exact"), func(s *trainers.Spec) { s.Steps.Draws = 20 }},
		{"free_draws", fitBy("iw"), func(s *trainers.Spec) { s.Steps.FreeDraws = true }},
		{"proposal_sd", fitBy("var"), func(s *trainers.Spec) { s.Steps.ProposalSD = 4 }},
		{"imputer", fitBy("iw"), func(s *trainers.Spec) { s.Steps.Imputer.Kind = "linear" }},
		{"imputer_options", fitBy("iw"), func(s *trainers.Spec) { s.Steps.Imputer.Options = []byte(`{"hidden":3}`) }},
		{"imputer_steps", fitBy("iw"), func(s *trainers.Spec) { s.Steps.ImputerSteps = 3 }},
		{"imputer_rate", fitBy("iw"), func(s *trainers.Spec) { s.Steps.ImputerRate = 0.1 }},
		{"imputer_loss", fitBy("iw"), func(s *trainers.Spec) { s.Steps.ImputerLoss = losses.Fisher }},
		{"warm_up", fitBy("iw"), func(s *trainers.Spec) { s.Steps.WarmUp = new(7) }},
		{"weighting", fitBy("iw"), func(s *trainers.Spec) { s.Steps.Weighting = "uniform" }},
		{"g_cap", fitBy("iw"), func(s *trainers.Spec) { s.Weight.Cap = 2 }},
		{"g_per_row", fitBy("iw"), func(s *trainers.Spec) { s.Weight.Scalar = true }},
		{"no_tangent", fitBy("iw"), func(s *trainers.Spec) { s.Weight.NoTangent = true }},
		{"level", fitBy("exact"), func(s *trainers.Spec) { s.Inference.Level = 0.9 }},
		{"resamples", fitBy("exact"), func(s *trainers.Spec) { s.Inference.Resamples = 9 }},
		{"lambda", fitBy("iw"), func(s *trainers.Spec) { s.Descent.Penalty.Lambda = 1 }},
		{"folds", fitBy("iw"), func(s *trainers.Spec) {
			s.Model.Kind, s.Descent.Penalty = "quartic", penalty.Config{Kind: "l1", Lambda: 1, Folds: 3}
		}},
		{"epochs", fitBy("exact"), func(s *trainers.Spec) { s.Descent.Epochs = 3 }},
		{"iterations", fitBy("iw"), func(s *trainers.Spec) { s.Descent.Iterations = 3 }},
		{"descent", aNetwork(), func(s *trainers.Spec) { s.Descent = descent.Config{Epochs: 3} }},
		{"warm_up", aNetwork(), func(s *trainers.Spec) { s.Steps.WarmUp = new(7) }},
		{"draws", aNetwork(), func(s *trainers.Spec) { s.Steps.Draws = 20 }},
		{"penalty", aNetwork(), func(s *trainers.Spec) { s.Network.Penalty = regpath.Penalty{Kind: "l1", Alpha: 0.2} }},
		{"gamma", aNetwork(), func(s *trainers.Spec) { s.Network.Select = regpath.Selection{Kind: "cv", Gamma: new(0.5)} }},
		{"density", aNetwork(), func(s *trainers.Spec) { s.Network.Select.Density = 0.5 }},
		{"folds", aNetwork(), func(s *trainers.Spec) { s.Network.Select.Folds = 3 }},
		{"beta", aNetwork(), func(s *trainers.Spec) { s.Network.Select.Beta = 0.1 }},
		{"false_edges", aNetwork(), func(s *trainers.Spec) { s.Network.Select.FalseEdges = 2 }},
		{"share", aNetwork(), func(s *trainers.Spec) { s.Network.Select.Share = 0.8 }},
		{"rate", aNetwork(), func(s *trainers.Spec) { s.Network.Select.Rate = 0.2 }},
		{"level", aNetwork(), func(s *trainers.Spec) { s.Inference = inference.Config{Level: 0.9} }},
		{"resamples", aNetwork(), func(s *trainers.Spec) { s.Inference = inference.Config{Kind: "model", Resamples: 9} }},
		{"schedule", aNetwork(), func(s *trainers.Spec) { s.Network.InitialIter = 3 }},
	} {
		_, err := trainers.Prepare(table, c.spec)
		require.NoError(t, err, c.field)
		c.set(&c.spec)
		_, err = trainers.Prepare(table, c.spec)
		var wrong *trainers.SettingError
		require.ErrorAs(t, err, &wrong, "%s: %+v", c.field, c.spec)
		require.Equal(t, c.field, wrong.Field, err)
	}
}

func fitBy(method string) trainers.Spec {
	return trainers.Spec{Steps: engine.Config{Method: method}, Descent: descent.Config{}}
}

func aNetwork() trainers.Spec { return trainers.Spec{Network: &regpath.Config{}} }

// Also for defaults written out.
func TestResolvedSpecsAreRead(t *testing.T) {
	table := gappy(t)
	low := domain.All(3)
	low.Lower[0] = -20
	for _, s := range []trainers.Spec{
		fitBy("auto"), fitBy("iw"), fitBy("var"), fitBy("exact"), aNetwork(),
		{Steps: engine.Config{Method: "iw", FreeDraws: true, Draws: 3, DType: graph.Float32}, Domain: low},
		{Steps: engine.Config{Draws: 10, ImputerSteps: 10, ProposalSD: 1, WarmUp: new(500), Imputer: engine.ImputerSpec{Options: json.RawMessage("")}}},
		{Model: trainers.ModelSpec{Kind: "mixture"}, Steps: engine.Config{Draws: 10}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "fdr"}}, Inference: inference.Config{Level: 0.9}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "cv"}}, Inference: inference.Config{Kind: "auto", Level: 0.9}},
	} {
		p, err := trainers.Prepare(table, s)
		require.NoError(t, err)
		p.Spec.Objective.Kind = "auto" // networks and mixtures take no other
		_, err = trainers.Prepare(table, p.Spec)
		require.NoError(t, err, "%+v", p.Spec)
	}
}
