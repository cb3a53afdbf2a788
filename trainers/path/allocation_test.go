package path

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
)

// A step along the path in steady state allocates nothing, if its matrix products do not.
func TestStepsDoNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("tests of races are the short ones, and the detector of races allocates")
	}
	blas, err := graph.BLAS()
	require.NoError(t, err)
	if strings.HasPrefix(blas, "gonum") {
		t.Skip("gonum's matrix products allocate, and there is no OpenBLAS on this machine")
	}
	rng := stream.New(1, stream.Simulate)
	truth, err := simulate.Normal(10, rng)
	require.NoError(t, err)
	complete, err := truth.Sample(100, rng)
	require.NoError(t, err)
	table, err := data.HideMCAR(complete, 0.3, rng)
	require.NoError(t, err)
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			r, err := New(engine.Problem{Table: table}, engine.Config{Method: "var", Batch: 40, Seed: 1, DType: dtype}, Config{Schedule: Fixed}, &State{})
			require.NoError(t, err)
			at := r.StepsAt(len(r.lambdas) / 2)
			step := func() error { return at(t.Context()) }
			for range 3 { // work space is made, shuffles are for the next epochs
				require.NoError(t, step())
			}
			require.Zero(t, testing.AllocsPerRun(20, func() {
				if err := step(); err != nil {
					t.Error(err)
				}
			}))
		})
	}
}
