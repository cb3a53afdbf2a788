package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

// The loss equals the program's to the bit, also with counts and any number of workers.
func TestMomentsHaveTheLossOfTheProgram(t *testing.T) {
	const d = 5
	_, table := testtables.Star(t, d, 60, 0.4)
	m := model.NewGaussian(d, model.Natural)
	m.Packed.Value[graph.PackedIndex(d, 0, 1)] = 0.3
	m.SetMean([]float64{0.1, -0.2, 0, 0.3, 0})
	table.Weights = make([]float64, table.N)
	for i := range table.Weights {
		table.Weights[i] = 0.5 + float64(i%2)
	}
	p := make([]float64, d*d)
	for j := range d {
		for k := range d {
			p[j*d+k] = m.Precision().At(j, k)
		}
	}
	for _, workers := range []int{1, 3} {
		e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact", Batch: 7, Workers: workers})
		require.NoError(t, err)
		for _, rows := range [][]int{e.Table.AllRows(), e.Table.AllRows(), e.Table.AllRows()[10:30], {3, 4}} {
			want, err := e.Gradient(0, rows, 1)
			require.NoError(t, err)
			got, err := e.Moments(rows, m.Location.Value, p, nil)
			require.NoError(t, err)
			require.InEpsilon(t, want.Loss, got.Loss, 1e-14)
		}
	}
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact"})
	require.NoError(t, err)
	_, err = e.Moments(e.Table.AllRows(), m.Location.Value, make([]float64, d*d), nil)
	require.ErrorIs(t, err, losses.ErrNotPositiveDefinite)
}
