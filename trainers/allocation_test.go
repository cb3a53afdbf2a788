package trainers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
)

// A training step in steady state allocates nothing, if its matrix products do not.
func TestStepsDoNotAllocate(t *testing.T) {
	blas, err := graph.BLAS()
	require.NoError(t, err)
	if strings.HasPrefix(blas, "gonum") {
		t.Skip("gonum's matrix products allocate, and there is no OpenBLAS on this machine")
	}
	rng := stream.New(1, stream.Simulate)
	truth, err := data.SimulateNormal(10, rng)
	require.NoError(t, err)
	complete, err := truth.Sample(100, rng)
	require.NoError(t, err)
	holes, err := data.HideMCAR(complete, 0.3, rng)
	require.NoError(t, err)
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		t.Run("path "+dtype.String(), func(t *testing.T) {
			doesNotAllocate(t, holes, "star", Config{Method: "var", Batch: 40, Seed: 1, DType: dtype})
		})
		for _, e := range Estimators {
			if e.Name == "exact-mc" { // it copies mean and precision
				continue
			}
			t.Run(e.Name+" "+dtype.String(), func(t *testing.T) {
				table := holes
				if e.Complete {
					table = complete
				}
				doesNotAllocate(t, table, "normal", Config{Method: e.Name, Batch: 40, Seed: 1, DType: dtype})
			})
		}
	}
}

func doesNotAllocate(t *testing.T, table *data.Table, experiment string, c Config) {
	step, err := NewStepper(table, experiment, c)
	require.NoError(t, err)
	for range 3 { // work space is made, shuffles are for the next epochs
		require.NoError(t, step())
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if err := step(); err != nil {
			t.Error(err)
		}
	}))
}
