package data_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func TestBatch(t *testing.T) {
	nan := math.NaN()
	table := &data.Table{Names: []string{"a", "b"}, N: 3, D: 2,
		Values: []float64{1, nan, 3, 4, nan, 6}, Observed: []bool{true, false, true, true, false, true}}
	b := data.NewBatch(3, 2)
	b.Fill(table, []int{2, 0, 1}, 0.25)
	require.Equal(t, []float64{0, 6, 1, 0, 3, 4}, b.X)
	require.Equal(t, []float64{0, 1, 1, 0, 1, 1}, b.Mask)
	require.Equal(t, []float64{0.25, 0.25, 0.25}, b.Weight)
	b.Fill(table, []int{1}, 0.5) // the rest becomes padding
	require.Equal(t, []float64{3, 4, 0, 0, 0, 0}, b.X)
	require.Equal(t, []float64{1, 1, 0, 0, 0, 0}, b.Mask)
	require.Equal(t, []float64{0.5, 0, 0}, b.Weight)
	require.Equal(t, []int{1}, b.Rows)
	rows := []int{0, 1}
	require.Zero(t, testing.AllocsPerRun(100, func() { b.Fill(table, rows, 1) }))
	require.Panics(t, func() { b.Fill(table, []int{0, 1, 2, 0}, 1) })
}
