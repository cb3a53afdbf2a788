package descent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/nets"
	"missingscore/trainers"
)

// The average equals that of fits of 1, 2, … epochs of one step.
func TestAverage(t *testing.T) {
	truth := &evaluate.Truth{Model: model.NewGaussian(3, model.CholeskyFactor), Sample: []float64{1, 0, -1, 0.5, 2, 0}}
	rng := stream.New(1, stream.Simulate)
	values := make([]float64, 30*3)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	full, err := data.NewTable([]string{"a", "b", "c"}, values, nil)
	require.NoError(t, err)
	table, err := data.HideMCAR(full, 0.3, stream.New(2, stream.Hide))
	require.NoError(t, err)
	const share, epochs = 0.4, 7
	fit := func(epochs int, average, validation float64) *trainers.Result {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{
			Model:     trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[4]}`)},
			Steps:     engine.Config{Method: "iw", Batch: 30, Draws: 3, Seed: 3},
			Descent:   descent.Config{Optimiser: "adam", Epochs: epochs, Rate: 0.05, Validation: &validation, Average: &average},
			KeepUnits: true, Truth: truth,
		}, trainers.Run{})
		require.NoError(t, err)
		return r
	}
	untilted := func(r *trainers.Result) []*graph.Param { // the tilt is not averaged
		return slices.DeleteFunc(slices.Clone(r.Model.Model.Params()), func(p *graph.Param) bool { return strings.HasPrefix(p.Name, "tilt") })
	}
	var mean []float64
	for step := 1; step <= epochs; step++ {
		var at []float64
		for _, p := range untilted(fit(step, 0, 0)) {
			at = append(at, p.Value...)
		}
		if step == 1 {
			mean = make([]float64, len(at))
		}
		for i, v := range at {
			mean[i] += (v - mean[i]) / max(1, share*float64(step))
		}
	}
	averaged := fit(epochs, share, 0)
	var got []float64
	for _, p := range untilted(averaged) {
		got = append(got, p.Value...)
	}
	require.InDeltaSlice(t, mean, got, 1e-14)
	plain := fit(epochs, 0, 0)
	require.NotEqual(t, got[0], plain.Model.Model.Params()[0].Value[0])
	for i, r := range plain.History {
		require.Equal(t, r.Loss, averaged.History[i].Loss, "the steps go on from where they were")
	}
	plainEnergy, _, _ := averaged.Model.Model.(nets.Tilted).Split() // the record is of the energy without a tilt
	seen, err := truth.Follow(plainEnergy)
	require.NoError(t, err)
	want, err := seen.Errors()
	require.NoError(t, err)
	require.Equal(t, want[0].Value, averaged.Final.Errors[0].Value)
	require.NotEqual(t, want[0].Value, plain.Final.Errors[0].Value)

	plain, averaged = fit(epochs, 0, 0.3), fit(epochs, share, 0.3)
	for i := range epochs {
		require.Equal(t, i < 2, plain.History[i].HeldOut == averaged.History[i].HeldOut, "epoch %d", i+1)
	}
}
