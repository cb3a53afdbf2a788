package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/losses"
)

// The rows that are drawn for are those with a missing cell, of four the second and the fourth.
func TestRowsWithGaps(t *testing.T) {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 0, 5, 7, 0, 8}, []bool{true, true, true, false, true, true, false, true})
	require.NoError(t, err)
	e, err := New(Problem{Table: table, Model: model.NewGaussian(2, model.CholeskyFactor), Objective: losses.Classical{}}, Config{Method: "iw", Batch: 4, Seed: 1})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, e.gaps)
}
