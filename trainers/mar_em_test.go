package trainers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

// Every method with the complete-data loss and draws from the conditional is right under MAR, in a
// fit and in a network, where the mean is estimated along. The likelihood's estimate is the
// truth that they are held to: what they differ from it by is the noise of draws.
func TestMissingAtRandomBySampledEM(t *testing.T) {
	table := hiddenWhereLow(2000)
	want := maximumLikelihood(t, table)
	for _, method := range []string{"em-exact-mc", "em-var", "em-variw", "em-chains"} {
		t.Run(method, func(t *testing.T) {
			for what, spec := range map[string]trainers.Spec{
				"fit":     {Steps: engine.Config{Method: method, Seed: 1}, Descent: descent.Config{Epochs: 60}},
				"network": {Steps: engine.Config{Method: method, Seed: 1}, Network: &path.Config{Select: path.Selection{Kind: "none"}, Lambdas: 10, LambdaMin: 1e-5, IterPerLambda: 60, Rate: 0.05}},
			} {
				r, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
				require.NoError(t, err)
				normal, ok := asNormal(r)
				require.True(t, ok)
				p := normal.Precision()
				t.Logf("%s: x-y %.3f (likelihood %.3f), x-z %.3f (%.3f), mean of y %.3f, %s, %+v", what, partialCorrelation(p, 0, 1), partialCorrelation(want, 0, 1), partialCorrelation(p, 0, 2), partialCorrelation(want, 0, 2), normal.Mean()[1], r.Verdict, r.Mixing)
				require.InDelta(t, partialCorrelation(want, 0, 1), partialCorrelation(p, 0, 1), 0.05, what)
				require.InDelta(t, partialCorrelation(want, 0, 2), partialCorrelation(p, 0, 2), 0.05, what)
				require.Less(t, math.Abs(normal.Mean()[1]), 0.15, what)
			}
		})
	}
}

func asNormal(r *trainers.Result) (model.Normal, bool) { return model.AsNormal(r.Model.Model) }
