package diagnose_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/diagnose"
)

// gaps is a table of rows whose cells are missing where they are NaN.
func gaps(t *testing.T, names []string, rows [][]float64) *data.Table {
	values := slices.Concat(rows...)
	observed := make([]bool, len(values))
	for i, x := range values {
		if observed[i] = !math.IsNaN(x); !observed[i] {
			values[i] = 0
		}
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	return table
}

// A pair that one row has is not found; pairs that none has are, whatever the model, four by name.
func TestApart(t *testing.T) {
	nan := math.NaN()
	rows := [][]float64{{1, nan, 2, 3}, {nan, 1, 3, 5}, {4, nan, 7, 6}, {nan, 2, 1, 2}}
	table := gaps(t, []string{"a", "b", "c", "d"}, rows)
	found := diagnose.Apart(table)
	require.Len(t, found, 1)
	require.Equal(t, diagnose.Finding{Kind: "apart", Severity: diagnose.Warning, Columns: []string{"a", "b"},
		Message: "a and b are never observed in the same row: their partial correlation is not determined by the data"}, found[0])
	all, err := diagnose.Table(table, diagnose.Setting{})
	require.NoError(t, err)
	require.Contains(t, all, found[0])
	require.Empty(t, diagnose.Apart(gaps(t, table.Names, append(rows, []float64{1, 1, nan, nan}))))

	var lone [][]float64
	var names []string
	for j := range 5 {
		for value := range 2 {
			row := []float64{nan, nan, nan, nan, nan}
			row[j] = float64(value)
			lone = append(lone, row)
		}
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	require.Equal(t, "x1 and x2; x1 and x3; x1 and x4; x1 and x5; 6 more pairs of columns are never observed in the same row: their partial correlations are not determined by the data",
		diagnose.Apart(gaps(t, names, lone))[0].Message)
}
