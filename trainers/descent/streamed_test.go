package descent_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/survey"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
)

// An epoch over the windows of a file has as many steps as the rows fill batches: none is left out
// between two windows, and none made twice.
func TestStepsOfWindows(t *testing.T) {
	const n, batch, epochs = 410, 20, 2
	rng := stream.New(1, stream.Simulate)
	values := make([]float64, 2*n)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, data.WriteNumbers(atomicfile.Write, file, []string{"a", "b"}, values))
	rows, err := data.OpenRows(file, data.ReadOptions{}, 10)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	p, err := trainers.PrepareFile(t.Context(), rows, trainers.Spec{
		Steps:   engine.Config{Method: "iw", Batch: batch, Draws: 2, Seed: 3},
		Descent: descent.Config{Epochs: epochs},
	}, survey.Options{Workers: 1})
	require.NoError(t, err)
	r, err := p.Estimate(t.Context(), trainers.Run{})
	require.NoError(t, err)
	require.Len(t, r.History, epochs)
	for i, h := range r.History {
		require.Equal(t, (i+1)*21, h.Iteration) // 410 rows fill 20 batches and a half
	}
}
