package data_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func real(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MISSINGSCORE_DATA")
	if dir == "" {
		t.Skip("MISSINGSCORE_DATA is not set: the real tables are not here")
	}
	return filepath.Join(dir, name)
}

func TestAirquality(t *testing.T) {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []int{153, 6, 44}, []int{table.N, table.D, table.Missing()})
	original, err := data.ReadCSV(real(t, "airquality.csv"), data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, original, table)
}

func TestRealTables(t *testing.T) {
	for name, want := range map[string][3]int{
		"yeast_brem2005_missing106.csv": {112, 106, 92},
		"mkmep.csv":                     {48, 63, 0},
		"yeast_gasch2000.csv.gz":        {173, 1000, 6397},
	} {
		all, err := data.ReadCSV(real(t, name), data.ReadOptions{})
		require.NoError(t, err, name)
		require.Equal(t, want, [3]int{all.N, all.D, all.Missing()}, name)
	}
	_, err := data.ReadCSV(real(t, "nhanes2.csv"), data.ReadOptions{})
	require.ErrorContains(t, err, `column "age": "20-39" is not a number`)
	require.ErrorContains(t, err, "ReadOptions.Exclude age")
}
