package speed

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

// The median of 1/2, 4/1, 3/3.
func TestAlternateTakesTurns(t *testing.T) {
	var order string
	play := func(name string, values ...float64) func() (float64, error) {
		return func() (float64, error) {
			order += name
			v := values[0]
			values = values[1:]
			return v, nil
		}
	}
	values, err := alternate(t.Context(), 3, play("o", 1, 4, 3), play("p", 2, 1, 3))
	require.NoError(t, err)
	require.Equal(t, "opopop", order)
	require.Equal(t, []string{"3", "1", "4", "2", "1", "3", "1", "0.5", "4"}, values)
}

func peer(t *testing.T) *side {
	p, err := launchPeer([]string{"python3", "/usr/bin/python3"})
	if errors.Is(err, errNoPeer) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(p.close)
	return p
}

func TestPeersGradientsAreOurs(t *testing.T) {
	require.NoError(t, check(io.Discard, peer(t), checked()))
}

// Zeroed has no noise, so both sides have equal parameters.
func TestPeersPathIsOurs(t *testing.T) {
	p := peer(t)
	s := Setting{Experiment: "star", Method: "zeroed", D: 6, N: 60, Batch: 60, Draws: 1}
	table, err := s.Table()
	require.NoError(t, err)
	r, err := fit(context.Background(), table, s)
	require.NoError(t, err)
	standard, _ := data.Standardise(table)
	require.NoError(t, p.start(forPeer(s, standard)))
	require.NoError(t, p.question("path", penalties(standard), &struct{}{}))
	var theirs struct{ Matrix []float64 }
	require.NoError(t, p.question("parameters", 0, &theirs))
	last := r.Points[len(r.Points)-1]
	require.Positive(t, last.Edges)
	require.True(t, mat.EqualApprox(mat.NewDense(6, 6, unpacked(last.Packed(), 6, true)), mat.NewDense(6, 6, theirs.Matrix), 1e-9))
}

// Without a choice of λ.
func fit(ctx context.Context, t *data.Table, s Setting) (*trainers.NetworkResult, error) {
	r, err := harness.Estimate(ctx, t, trainers.Spec{
		Steps:   engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed},
		Network: &regpath.Config{Schedule: regpath.Fixed, Select: regpath.Selection{Kind: "none"}, PathOnly: true},
	}, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return r.Network, nil
}

func TestSettingsStep(t *testing.T) {
	for _, experiment := range Experiments {
		step, err := Setting{Experiment: experiment, Method: "iw", D: 3, N: 20, Batch: 10, Draws: 2, Seed: 1}.Stepper()
		require.NoError(t, err)
		require.NoError(t, step())
	}
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
