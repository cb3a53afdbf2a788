package descent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// The fit is that of the epoch after which the loss of the rows held out was least: the shorter fit
// that ends with that epoch has the same parameters.
func TestBestEpochIsKept(t *testing.T) {
	_, table := testtables.Star(t, 3, 60, 0.3)
	fit := func(epochs int) *trainers.Result {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{
			Steps:   engine.Config{Method: "iw", Batch: 20, Draws: 3, Seed: 3},
			Descent: descent.Config{Optimiser: "adam", Epochs: epochs, Rate: 0.3, Validation: new(0.3)},
		}, trainers.Run{})
		require.NoError(t, err)
		return r
	}
	whole := fit(12)
	best := whole.History[0]
	for _, h := range whole.History {
		if h.HeldOut < best.HeldOut {
			best = h
		}
	}
	require.Greater(t, best.Epoch, 1)
	require.Less(t, best.Epoch, 12)
	require.Equal(t, best.Epoch, whole.Final.Epoch)
	for i, p := range fit(best.Epoch).Model.Model.Params() {
		require.Equal(t, p.Value, whole.Model.Model.Params()[i].Value)
	}
}
