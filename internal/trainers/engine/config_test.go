package engine_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func problem(rows int, o losses.Objective) engine.Problem {
	t := &data.Table{Names: []string{"a", "b"}, N: rows, D: 2, Values: make([]float64, 2*rows), Observed: make([]bool, 2*rows)}
	return engine.Problem{Table: t, Model: model.NewGaussian(2, model.FreeSymmetric), Objective: o}
}

func positive() *domain.Domain {
	s := domain.All(2)
	clear(s.Lower)
	return s
}

func TestDefaults(t *testing.T) {
	c, e, err := engine.Config{Method: "var"}.Resolve(problem(60, losses.Classical))
	require.NoError(t, err)
	require.Equal(t, "var", e.Name)
	require.Equal(t, []int{10, 10, 0, 60, 1}, []int{c.Draws, c.ImputerSteps, *c.WarmUp, c.Batch, c.Workers})
	require.Equal(t, []float64{1e-3, 1}, []float64{c.ImputerRate, c.ProposalSD})
	c, _, err = engine.Config{Method: "exact", WarmUp: new(7)}.Resolve(problem(600, losses.Classical))
	require.NoError(t, err)
	require.Equal(t, []int{1, 7, 100}, []int{c.Draws, *c.WarmUp, c.Batch}) // makes no draws
	c, e, err = engine.Config{Method: "exact"}.Resolve(problem(600, losses.Truncated{Domain: positive()}))
	require.NoError(t, err)
	require.Equal(t, []string{"exact-mc", "exact-mc"}, []string{c.Method, e.Name})
	_, _, err = engine.Config{Method: "vae"}.Resolve(problem(60, losses.Classical))
	require.ErrorContains(t, err, `there is no method "vae"`)
}

func TestSettingErrors(t *testing.T) {
	for _, c := range []struct {
		config       engine.Config
		field, value string
	}{
		{engine.Config{Draws: -1}, "draws", "-1"},
		{engine.Config{Draws: 2, Weighting: "leave-one-out"}, "draws", "2"},
		{engine.Config{ImputerSteps: -2}, "imputer_steps", "-2"},
		{engine.Config{WarmUp: new(-3)}, "warm_up", "-3"},
		{engine.Config{Batch: -4}, "batch", "-4"},
		{engine.Config{ImputerRate: -0.5}, "imputer_rate", "-0.5"},
		{engine.Config{ImputerRate: math.NaN()}, "imputer_rate", "NaN"},
		{engine.Config{ProposalSD: math.Inf(1)}, "proposal_sd", "+Inf"},
		{engine.Config{Workers: -6}, "workers", "-6"},
	} {
		c.config.Method = "var"
		_, _, err := c.config.Resolve(problem(60, losses.Classical))
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong, "%+v", c)
		require.Equal(t, [2]string{c.field, c.value}, [2]string{wrong.Field, wrong.Value})
	}
}

func TestImputerOfLevelsNeedsThem(t *testing.T) {
	config := engine.Config{Method: "var", Imputer: engine.ImputerSpec{Kind: "normal", Options: []byte(`{"noise_conditional":true}`)}}
	_, _, err := engine.Gradient(problem(60, losses.Classical), config, 0)
	var wrong *setting.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "imputer", wrong.Field)
}
