package data_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
)

func TestInsideNamesLineAndCell(t *testing.T) {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 1, 2, -3, 4, 4}, []bool{true, false, true, true, true, true})
	require.NoError(t, err)
	s := domain.All(2)
	s.Lower[1] = -2.5
	var row *data.RowError
	require.ErrorAs(t, table.Inside(s), &row)
	require.Equal(t, data.RowError{Row: 1, Column: "b", Cell: "-3", Why: row.Why}, *row)
	require.EqualError(t, row, `row 2: column "b": -3 is below the lower bound -2.5`)
	table.Lines = []int{2, 5, 6}
	require.ErrorContains(t, table.Inside(s), "line 5")
	s.Lower[1] = -4
	require.NoError(t, table.Inside(s))
	require.NoError(t, table.Inside(nil))
}
