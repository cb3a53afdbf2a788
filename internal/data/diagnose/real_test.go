package diagnose_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/diagnose"
)

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

// Prices are collinear, 40 is the last cycle, yeast and riboflavin have heavy tails and few rows.
func TestRealTables(t *testing.T) {
	for _, c := range []struct {
		file    string
		exclude []string
		want    []string
	}{
		{"airquality.csv", nil, []string{"few-values"}},
		{"mkmep.csv", nil, []string{"few-rows", "code", "skewed", "limit"}},
		{"nhanes2.csv", []string{"age", "hyp"}, []string{"few-rows"}},
		{"sachs.csv.gz", []string{"intervention"}, []string{"limit"}},
		{"walking.csv", []string{"sex", "src"}, []string{"few-values"}},
		{"all_stocks_5yr_sample.csv", []string{"date", "Name"}, []string{"dependent", "dependent", "dependent", "skewed"}},
		{"huge_stockdata.csv.gz", nil, []string{"skewed"}},
		{"riboflavin.csv.gz", nil, []string{"few-rows", "skewed"}},
		{"yeast_brem2005_complete.csv.gz", nil, []string{"few-rows", "skewed"}},
		{"yeast_brem2005_missing.csv.gz", nil, []string{"few-rows", "skewed"}},
		{"yeast_brem2005_missing106.csv", nil, []string{"skewed"}},
		{"yeast_gasch2000.csv.gz", nil, []string{"few-rows", "skewed"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var kinds []string
			for _, f := range find(t, realTable(t, c.file, data.ReadOptions{Exclude: c.exclude}), diagnose.Setting{}) {
				kinds = append(kinds, f.Kind)
				t.Log(f.Message)
			}
			require.Equal(t, c.want, kinds)
		})
	}
}
