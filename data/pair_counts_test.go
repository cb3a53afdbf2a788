package data

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNeverTogether(t *testing.T) {
	table := &Table{Names: []string{"a", "b", "c", "d"}, N: 3, D: 4, Values: make([]float64, 12), Observed: []bool{
		true, true, false, false,
		false, true, true, false,
		true, false, false, false,
	}}
	require.Equal(t, [][2]int{{0, 2}, {0, 3}, {1, 3}, {2, 3}}, table.NeverTogether()) // column d is never observed at all
	require.Equal(t, []int{1, 0, 0, 1, 0, 0}, table.PairCounts())
	table.Observed[11] = true
	require.Equal(t, [][2]int{{0, 2}, {1, 3}, {2, 3}}, table.NeverTogether())
	for i := range table.Observed {
		table.Observed[i] = true
	}
	require.Empty(t, table.NeverTogether())
}
