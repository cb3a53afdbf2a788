package engine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/internal/testtables"
)

func objective(t *testing.T, name, options string) losses.Objective {
	t.Helper()
	o, err := losses.NewObjective(name, losses.ObjectiveSetting{Dim: 1, Options: []byte(options)})
	require.NoError(t, err)
	return o
}

var projected = map[string]string{
	"sliced":    `{"number":2}`,
	"denoising": `{"noise":{"kind":"fixed","least":0.4}}`,
}

// ladder is a neural energy that knows levels of noise, with the objective for it.
func ladder(t *testing.T, d int) (model.Model, losses.Objective) {
	t.Helper()
	m, err := model.New("energy", d, []byte(`{"hidden":[6],"noise_conditional":true}`), stream.New(3))
	require.NoError(t, err)
	return m, objective(t, "denoising", `{"noise":{"kind":"preserving","levels":5}}`)
}

// refusesNoise tells whether an estimator cannot have this objective for its noise: the
// complete-data loss would need cells drawn given the observed ones without noise, persistent
// chains ones that stay.
func refusesNoise(e estimator.Estimator, o losses.Objective) bool {
	_, noising := o.(losses.Noising)
	return noising && (e.Loss.Needs().CompletedRows || e.Fallback == "em-exact-mc" || e.Source.Memory != nil)
}

// With gaps: no worker and nothing under a missing cell counts, and all is finite.
func TestObjectivesWithGaps(t *testing.T) {
	_, table := testtables.Star(t, 3, 40, 0.4)
	poisoned := *table
	poisoned.Values = slices.Clone(table.Values)
	for i, seen := range table.Observed {
		if !seen {
			poisoned.Values[i] = math.NaN()
		}
	}
	for _, e := range estimator.All {
		if e.NeedsCompleteRows() || e.OfMatrix() {
			continue
		}
		compare := func(t *testing.T, m model.Model, o losses.Objective) {
			config := engine.Config{Method: e.Name, Seed: 4, Batch: 8, Draws: 4}
			want, wanted, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: o}, config, 0)
			if refusesNoise(e, o) {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			config.Workers = 3
			got, grads, err := engine.Gradient(engine.Problem{Table: &poisoned, Model: m, Objective: o}, config, 0)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, wanted, grads)
			for _, g := range grads {
				require.False(t, floats.HasNaN(g))
			}
			require.NotZero(t, floats.Norm(slices.Concat(grads...), 1))
		}
		for name, options := range projected {
			t.Run(e.Name+"/"+name, func(t *testing.T) {
				compare(t, model.NewGaussian(3, model.CholeskyFactor), objective(t, name, options))
			})
		}
		if !e.NeedsNormal() {
			t.Run(e.Name+"/ladder", func(t *testing.T) {
				m, o := ladder(t, 3)
				compare(t, m, o)
			})
		}
	}
}
