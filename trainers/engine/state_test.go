package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/internal/testtables"
)

// Of an estimator that knows the table by one matrix the state has what is not zero, and gives it
// back, to a model without numbers, too.
func TestStateWithoutZeros(t *testing.T) {
	_, table := testtables.Star(t, 5, 50, 0.2)
	m := model.NewGaussian(5, model.FreeSymmetric)
	e, err := New(Problem{Table: table, Model: m, Objective: losses.Classical{}}, Config{Method: "pairwise"})
	require.NoError(t, err)
	m.Packed.Value[2], m.Packed.Value[3], m.Location.Value[4] = -0.5, math.Copysign(0, -1), 3
	want := [][]float64{slices.Clone(m.Location.Value), slices.Clone(m.Packed.Value)}
	s := e.Capture()
	require.Nil(t, s.Model)
	require.Equal(t, []Nonzero{{[]int{4}, []float64{3}}, {[]int{0, 2, 3, 5, 9, 12, 14}, []float64{1, -0.5, math.Copysign(0, -1), 1, 1, 1, 1}}}, s.Nonzero)
	m.Packed.Value[1], m.Packed.Value[2] = 7, 8
	e.Restore(s)
	require.Equal(t, want, values(m.Params()))
	m.Packed.Value = nil
	require.Nil(t, e.Capture().Nonzero[1].At)
	e.Restore(s)
	require.Equal(t, want, values(m.Params()))
	m.Packed.Value = nil
	e.Restore(State{Model: want}) // of states before
	require.Equal(t, want, values(m.Params()))
}
