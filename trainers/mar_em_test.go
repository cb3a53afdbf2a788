package trainers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// chainOfThree is x → y → z, y hidden where x < 0, with unit variances: the partial correlation
// x–y is 0.756, x–z 0, the mean of y 0.
func chainOfThree(n int) *data.Table {
	rng := stream.New(12, 3)
	table := &data.Table{Names: []string{"x", "y", "z"}, N: n, D: 3}
	for range n {
		x := rng.NormFloat64()
		y := 0.8*x + 0.6*rng.NormFloat64()
		z := 0.5*y + math.Sqrt(0.75)*rng.NormFloat64()
		if x < 0 {
			y = math.NaN()
		}
		table.Values = append(table.Values, x, y, z)
		table.Observed = append(table.Observed, true, x >= 0, true)
	}
	return table
}

// Methods with the complete-data loss and draws from the conditional are right under MAR, in
// fits and in networks, where the mean is estimated along. Tolerances are 2.5 standard errors
// of a partial correlation from the 1000 rows that have y, (1 − ρ²)/√1000, and what the noise
// of draws and the imputer's training leave, 0.02.
func TestMissingAtRandomBySampledEM(t *testing.T) {
	slowtest.Skip(t, "20 s")
	table := chainOfThree(2000)
	fit := func(method string) trainers.Spec {
		return trainers.Spec{Steps: engine.Config{Method: method, Seed: 1}, Descent: descent.Config{Epochs: 60}}
	}
	network := func(method string) trainers.Spec {
		return trainers.Spec{Steps: engine.Config{Method: method, Seed: 1, ImputerSteps: 4, Batch: 500}, Network: &regpath.Config{
			Select: regpath.Selection{Kind: "none"}, Lambdas: 10, LambdaMin: 1e-5, IterPerLambda: 60, Rate: 0.05}}
	}
	for name, spec := range map[string]trainers.Spec{
		"em-exact-mc fit": fit("em-exact-mc"), "em-chains fit": fit("em-chains"), "em-var fit": fit("em-var"),
		"em-chains network": network("em-chains"),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
			require.NoError(t, err)
			normal, ok := model.AsNormal(r.Model.Model)
			require.True(t, ok)
			p, mean := normal.Precision(), normal.Mean()
			t.Logf("x-y %.3f, x-z %.3f, mean of y %.3f, %s, chains %+v", partialCorrelation(p, 0, 1), partialCorrelation(p, 0, 2), mean[1], r.Verdict, r.Mixing)
			require.InDelta(t, 0.756, partialCorrelation(p, 0, 1), 0.055)
			require.InDelta(t, 0, partialCorrelation(p, 0, 2), 0.1)
			require.InDelta(t, 0, mean[1], 0.1)
			if spec.Steps.Method == "em-chains" {
				require.Less(t, r.Mixing.RHat, 1.02)
			}
		})
	}
}
