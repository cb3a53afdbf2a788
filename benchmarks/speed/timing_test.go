package speed

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

func TestTime(t *testing.T) {
	steps := 0
	step := func() error { steps++; return nil }
	_, n, err := Time(t.Context(), step, 5, 0)
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.Equal(t, 5, steps)
	_, _, err = Time(t.Context(), func() error { return errors.New("no step") }, 5, 0)
	require.EqualError(t, err, "no step")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err = Time(ctx, step, 5, 0)
	require.ErrorIs(t, err, context.Canceled)
}

func TestSettingsStep(t *testing.T) {
	for _, experiment := range Experiments {
		step, err := Setting{Experiment: experiment, Method: "iw", D: 3, N: 20, Batch: 10, Draws: 2, Seed: 1}.Stepper()
		require.NoError(t, err)
		require.NoError(t, step())
	}
	_, err := Setting{Experiment: "moon", Method: "iw", D: 3, N: 5}.Stepper()
	require.EqualError(t, err, `there is no experiment "moon"; choose from normal, quartic, star`)
	_, err = Setting{Experiment: "normal", Method: "vae", D: 3, N: 5}.Table()
	require.ErrorContains(t, err, "vae")
}

func TestStepsDoNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	blas, err := graph.BLAS()
	require.NoError(t, err)
	if strings.HasPrefix(blas, "gonum") {
		t.Skip("without OpenBLAS, matrix products of gonum allocate")
	}
	for _, experiment := range Experiments {
		step, err := Setting{Experiment: experiment, Method: "var", D: 4, N: 40, Batch: 20, Draws: 3, Seed: 1}.Stepper()
		require.NoError(t, err)
		for range 3 { // allocates buffers
			require.NoError(t, step())
		}
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if err := step(); err != nil {
				t.Error(err)
			}
		}), experiment)
	}
}
