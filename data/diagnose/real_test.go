package diagnose_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/diagnose"
)

// realTable reads one of the tables that are not in the repository, or skips the test.
func realTable(t *testing.T, file string, o data.ReadOptions) *data.Table {
	t.Helper()
	dir := os.Getenv("MISSINGSCORE_DATA")
	if dir == "" {
		t.Skip("MISSINGSCORE_DATA does not name the folder of the real tables")
	}
	table, err := data.ReadCSV(filepath.Join(dir, file), o)
	require.NoError(t, err)
	return table
}

// What is said of real tables: nothing that is not so.
func TestRealTables(t *testing.T) {
	for _, c := range []struct {
		file    string
		exclude []string
		columns []string
		want    map[string][]string // columns by kind; nil: some
	}{
		{file: "airquality.csv", want: map[string][]string{}},
		{file: "mkmep.csv"},
		{file: "nhanes2.csv", exclude: []string{"age", "hyp"}},
		{file: "sachs.csv.gz", exclude: []string{"intervention"}},
		{file: "walking.csv", exclude: []string{"sex", "src"}},
		{file: "all_stocks_5yr_sample.csv", exclude: []string{"date", "Name"}},
		{file: "huge_stockdata.csv.gz"},
		{file: "riboflavin.csv.gz"},
		{file: "yeast_brem2005_complete.csv.gz"},
		{file: "yeast_brem2005_missing.csv.gz"},
		{file: "yeast_brem2005_missing106.csv"},
		{file: "yeast_gasch2000.csv.gz"},
	} {
		t.Run(c.file, func(t *testing.T) {
			table := realTable(t, c.file, data.ReadOptions{Exclude: c.exclude, Columns: c.columns})
			found, err := diagnose.Table(table, diagnose.Setting{})
			require.NoError(t, err)
			for _, f := range found {
				t.Logf("%s %s: %s", f.Severity, f.Kind, f.Message)
			}
		})
	}
}
