package losses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/data/noise"
	"missingscore/losses"
)

func TestObjectivesByName(t *testing.T) {
	box := domain.All(2)
	box.Lower[0] = 0
	for _, c := range []struct {
		name, options string
		support       *domain.Domain
		want          losses.Objective
		problem       string
	}{
		{name: "auto", want: losses.Classical{}},
		{name: "auto", support: box, want: losses.Truncated{Domain: box}},
		{name: "sliced", want: losses.Sliced{Directions: losses.Rademacher, Number: 1}},
		{name: "sliced", options: `{"directions":"basis","variance_reduced":true}`, support: box, want: losses.Sliced{Directions: losses.Basis, VarianceReduced: true, Domain: box}},
		{name: "denoising", want: losses.Denoising{Noise: noise.Schedule{Kind: noise.Exploding, Least: 0.01, Most: 10}, Weight: "variance"}},
		{name: "denoising", options: `{"noise":{"kind":"preserving","levels":10},"weight":"one"}`, want: losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20, Levels: 10}, Weight: "one"}},
		{name: "classical", support: box, problem: "take truncated or sliced"},
		{name: "truncated", problem: "needs a support that ends"},
		{name: "denoising", support: box, problem: "takes rows out of the support"},
		{name: "classic", problem: "objectives are classical, denoising, sliced, truncated"},
		{name: "classical", options: `{"number":1}`, problem: "should look like {}"},
		{name: "sliced", options: `{"numbers":1}`, problem: `"directions": …, "number": …, "variance_reduced": …`},
		{name: "denoising", options: `{"noise":{"kind":"blue"}}`, problem: "noise schedules are fixed, exploding, preserving"},
	} {
		got, err := losses.NewObjective(c.name, losses.ObjectiveSetting{Dim: 2, Options: []byte(c.options), Domain: c.support})
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}
