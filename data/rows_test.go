package data

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, text string) *Table {
	table, err := ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{})
	require.NoError(t, err)
	return table
}

func TestRows(t *testing.T) {
	table := parsed(t, "a,b\n1,2\n3,\n,6\n7,8\n")
	some, err := table.Rows([]int{3, 1, 2, 3})
	require.NoError(t, err)
	require.Equal(t, []float64{7, 8, 3, 0, 0, 6, 7, 8}, some.Values)
	require.Equal(t, []bool{true, true, true, false, false, true, true, true}, some.Observed)
	require.Equal(t, []int{5, 3, 4, 5}, some.Lines)
	_, err = table.Rows([]int{4})
	require.ErrorContains(t, err, "no row 5 among 4")
	_, err = table.Rows([]int{0, 0})
	require.ErrorContains(t, err, "constant")
}

func TestStacked(t *testing.T) {
	a, b := parsed(t, "a,b\n1,2\n3,\n"+"5,9\n"), parsed(t, "a,b\n,4\n5,6\n2,1\n")
	both, err := Stack(a, b)
	require.NoError(t, err)
	require.Equal(t, 6, both.N)
	require.Equal(t, []float64{1, 2, 3, 0, 5, 9, 0, 4, 5, 6, 2, 1}, both.Values)
	require.Equal(t, 2, both.Missing())
	require.Nil(t, both.Lines)
	_, err = Stack(a, parsed(t, "b,a\n1,4\n5,6\n"))
	require.ErrorContains(t, err, "cannot be stacked")
}
