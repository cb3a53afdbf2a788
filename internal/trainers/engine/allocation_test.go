package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// A training step does not allocate in steady state if its matrix products do not.
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
	holes, err := data.HideMCAR(complete, 0.3, rng)
	require.NoError(t, err)
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		for _, e := range estimator.All {
			if e.Source.Name == "exact" || e.OfMatrix() { // copies mean and precision; no steps
				continue
			}
			t.Run(e.Name+" "+dtype.String(), func(t *testing.T) {
				table := holes
				if e.NeedsCompleteRows() {
					table = complete
				}
				m := model.NewGaussian(table.D, model.CholeskyFactor)
				g, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: e.Name, Batch: 40, Seed: 1, DType: dtype})
				require.NoError(t, err)
				rows, adam, iteration := g.Table.AllRows(), optim.Adam{Rate: 0.01}, 0
				step := func() error {
					s, err := g.Step(t.Context(), iteration, g.Whole, rows, 1/float64(table.N))
					if err != nil {
						return err
					}
					iteration++
					adam.Step(m.Params(), s.Grads)
					return nil
				}
				for range 3 { // allocates buffers and the shuffles of the next epochs
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
}
