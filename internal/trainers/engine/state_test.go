package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/losses"
)

func TestStateWithoutZeros(t *testing.T) {
	_, table := testtables.Star(t, 5, 50, 0.2)
	m := model.NewGaussian(5, model.FreeSymmetric)
	e, err := New(Problem{Table: table, Model: m, Objective: losses.Classical}, Config{Method: "pairwise"})
	require.NoError(t, err)
	m.Packed.Value[2], m.Packed.Value[3], m.Location.Value[4] = -0.5, math.Copysign(0, -1), 3
	want := [][]float64{slices.Clone(m.Location.Value), slices.Clone(m.Packed.Value)}
	s := e.Capture()
	require.Nil(t, s.Model)
	require.Equal(t, []nonzero{{[]int{4}, []float64{3}}, {[]int{0, 2, 3, 5, 9, 12, 14}, []float64{1, -0.5, math.Copysign(0, -1), 1, 1, 1, 1}}}, s.Nonzero)
	m.Packed.Value[1], m.Packed.Value[2] = 7, 8
	e.Restore(s)
	require.Equal(t, want, values(m.Params()))
	m.Packed.Value = nil
	require.Nil(t, e.Capture().Nonzero[1].At)
	e.Restore(s)
	require.Equal(t, want, values(m.Params()))
	m.Packed.Value = nil
	e.Restore(State{Model: want}) // older states
	require.Equal(t, want, values(m.Params()))
}

// With draws from the model itself it is the number of draws.
func TestEffectiveSizeOfAStep(t *testing.T) {
	const draws = 5
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 0, 5, 7, 0, 8}, []bool{true, true, true, false, true, true, false, true})
	require.NoError(t, err)
	for _, wide := range []bool{false, true} {
		m := model.NewGaussian(2, model.CholeskyFactor) // N(0, I)
		c := Config{Method: "iw", Batch: 4, Draws: draws, ProposalSD: 1, Seed: 1}
		if wide {
			c.ProposalSD = 3
		}
		e, err := New(Problem{Table: table, Model: m, Objective: losses.Classical}, c)
		require.NoError(t, err)
		s, err := e.Step(t.Context(), 0, e.Whole, table.AllRows(), 0.25)
		require.NoError(t, err)
		if !wide {
			require.InDelta(t, draws, s.EffectiveSize, 1e-9)
			continue
		}
		require.Greater(t, s.EffectiveSize, 1.)
		require.Less(t, s.EffectiveSize, draws-0.1)
	}
}
