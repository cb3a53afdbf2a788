package data_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func TestPatterns(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 5, D: 2, Values: make([]float64, 10),
		Observed: []bool{true, false, true, true, true, false, false, false, true, true}}
	require.Equal(t, [][]int{{0, 2}, {1, 4}, {3}}, table.Patterns(table.AllRows()))
	require.Equal(t, [][]int{{4, 1}, {2}}, table.Patterns([]int{4, 2, 1}))
	require.Empty(t, table.Patterns(nil))
}
