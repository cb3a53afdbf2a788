package fitted

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// A panic in a goroutine is an error of what started it, and does not end the program.
func TestPanicsAreErrors(t *testing.T) {
	truth, err := simulate.Star(3, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := truth.Sample(100, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.3, stream.New(1, stream.Hide))
	require.NoError(t, err)
	const want = "internal error: shape ("
	f := &Model{Names: table.Names, Model: model.NewGaussian(3, model.CholeskyFactor), Scale: data.UnitScale(3)}
	_, err = eachBlock(t.Context(), f, table, ImputeConfig{Sampler: "exact", Draws: 1, Workers: 2}, func(block) error { panic("shape") })
	require.ErrorContains(t, err, want)
	_, err = eachBlock(t.Context(), f, table, ImputeConfig{Sampler: "exact", Draws: 1, Workers: 2, Observe: func(int, int) { panic("shape") }}, func(block) error { return nil })
	require.ErrorContains(t, err, want)
}
