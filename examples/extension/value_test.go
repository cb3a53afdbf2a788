package extension_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/extension"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/source"
)

// byValue is a fit with all parts given by value.
func byValue(seed uint64) trainers.Spec {
	return trainers.Spec{
		Model: trainers.ModelSpec{New: func(d int, rng *rand.Rand) (model.Model, error) { return extension.NewTwoLayers(d, 6, rng), nil }},
		Objective: trainers.ObjectiveSpec{New: func(losses.ObjectiveSetting) (losses.Objective, error) {
			return extension.Columns{Weights: []float64{1, 0.5, 1}}, nil
		}},
		Steps: trainers.Steps{Seed: seed, Draws: 4, ImputerSteps: 1, WarmUp: new(5),
			Estimator: &estimator.Estimator{Source: source.Imputer, Weighting: extension.Tempered{Power: 0.5}, Loss: extension.Blend{Share: 0.3}},
			Imputer: trainers.ImputerSpec{New: func(d int, rng *rand.Rand) (nets.Imputer, error) {
				return nets.Imputers["own-mixture"](d, []byte(`{"Components":2}`), rng)
			}}},
		Descent: trainers.Descent{Epochs: 2, Validation: new(0.0)},
	}
}

func three(t *testing.T) *data.Table {
	x, rng := make([]float64, 3*60), rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = 5 + 2*rng.NormFloat64()
	}
	return hide(t, []string{"a", "b", "c"}, x, 1)
}

func TestPartsByValue(t *testing.T) {
	table := three(t)
	r, err := trainers.Estimate(t.Context(), table, byValue(1), trainers.Run{})
	require.NoError(t, err)
	require.Equal(t, "own", r.Estimator.Name)
	again, err := trainers.Estimate(t.Context(), table, byValue(1), trainers.Run{})
	require.NoError(t, err)
	other, err := trainers.Estimate(t.Context(), table, byValue(2), trainers.Run{})
	require.NoError(t, err)
	first := func(r *trainers.Result) []float64 { return r.Model.Model.Params()[0].Value }
	require.Equal(t, first(r), first(again))
	require.NotEqual(t, first(r), first(other))

	used(t, r, table)
	require.ErrorContains(t, r.Save(filepath.Join(t.TempDir(), "model.json")), "the model has no kind, so its file could not be read")
}

func TestSourceByValue(t *testing.T) {
	table := three(t)
	own := source.Kinds["hot-deck"]
	made := own.New
	uses := 0
	own.Name, own.New = "own deck", func(s source.Setting) (source.Source, error) { uses++; return made(s) }
	spec := trainers.Spec{
		Steps:   trainers.Steps{Seed: 1, Draws: 4, Estimator: &estimator.Estimator{Source: own, Weighting: losses.SelfNormalised, Loss: losses.Marginal}},
		Descent: trainers.Descent{Epochs: 2, Rate: 0.01, Validation: new(0.0)},
	}
	r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
	require.NoError(t, err)
	require.Positive(t, uses)
	spec.Steps.Estimator, spec.Steps.Method = nil, "iw-hot-deck"
	registered, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
	require.NoError(t, err)
	require.Equal(t, registered.Model.Model.Params()[0].Value, r.Model.Model.Params()[0].Value)
	used(t, r, table)
}

func used(t *testing.T, r *trainers.Result, table *data.Table) {
	t.Helper()
	m, err := r.Model.Fitted()
	require.NoError(t, err)
	completed, err := fitted.Impute(t.Context(), m, table, fitted.ImputeConfig{Draws: 2, Seed: 1})
	require.NoError(t, err)
	require.Len(t, completed.Values, 2*len(table.Values))
	_, err = fitted.Score(t.Context(), m, table, fitted.ImputeConfig{Draws: 2, Seed: 1})
	require.NoError(t, err)
	_, err = fitted.Sample(t.Context(), m, fitted.SampleConfig{N: 5, Seed: 1})
	require.NoError(t, err)
}

func TestParametricModelByValue(t *testing.T) {
	table := three(t)
	spec := trainers.Spec{
		Model: trainers.ModelSpec{New: func(d int, _ *rand.Rand) (model.Model, error) {
			return extension.Student{Parametric: model.NewGaussian(d, model.CholeskyFactor), Freedom: 4}, nil
		}},
		Steps: trainers.Steps{Method: "iw", Seed: 1}, Descent: trainers.Descent{Epochs: 2, Validation: new(0.0)},
	}
	r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
	require.NoError(t, err)
	used(t, r, table)

	m, err := r.Model.Standardised() // of z = (x − mean)/deviation: P_jk of x times both deviations
	require.NoError(t, err)
	s := r.Model.Scale.Deviation
	raw, z := r.Model.Model.(model.Parametric).Quantities()[1].Value, m.(model.Parametric).Quantities()[1].Value
	for i := range 9 {
		require.InEpsilon(t, raw[i]*s[i/3]*s[i%3], z[i], 1e-9)
	}
}

func TestNamesThatCannotBeRead(t *testing.T) {
	table := three(t)
	for field, change := range map[string]func(*trainers.Spec){
		"model":   func(s *trainers.Spec) { s.Model.Kind = "two-layres" },
		"imputer": func(s *trainers.Spec) { s.Steps.Imputer.Kind = "mixtures" },
		"method":  func(s *trainers.Spec) { s.Steps.Method = "var" },
	} {
		spec := byValue(1)
		change(&spec)
		_, err := trainers.Prepare(table, spec)
		var wrong *trainers.SettingError
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, field, wrong.Field)
	}
	spec := byValue(1)
	spec.Steps.Estimator = &estimator.Estimator{Source: source.Zeros, Weighting: losses.SelfNormalised, Loss: losses.Marginal}
	_, err := trainers.Prepare(table, spec)
	require.ErrorContains(t, err, "weighting self-normalised needs the log density of the draws, which source zeros does not give")
}
