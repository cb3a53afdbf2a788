package data_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/memory"
)

// real is the path of an external table.
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

// Rows, columns and missing cells of real tables, and of their columns seen in 95 % of the rows.
func TestRealTables(t *testing.T) {
	for name, want := range map[string][6]int{
		"yeast_brem2005_missing106.csv": {112, 106, 92, 112, 106, 92},
		"mkmep.csv":                     {48, 63, 0, 48, 63, 0},
		"yeast_gasch2000.csv.gz":        {173, 1000, 6397, 173, 811, 1966},
	} {
		all, err := data.ReadCSV(real(t, name), data.ReadOptions{})
		require.NoError(t, err, name)
		e, err := data.Present(all, 0.95)
		require.NoError(t, err, name)
		require.Equal(t, want, [6]int{all.N, all.D, all.Missing(), e.N, e.D, e.Missing()}, name)
	}
	_, err := data.ReadCSV(real(t, "nhanes2.csv"), data.ReadOptions{})
	require.ErrorContains(t, err, `column "age": "20-39" is not a number`)
	require.ErrorContains(t, err, "ReadOptions.Columns bmi,chl")
}

func TestRealClosingPrices(t *testing.T) {
	columns := data.PriceColumns{Date: "date", Name: "Name", Price: "close"}
	p, err := data.ReadClosingPrices(real(t, "sp100_close.csv.gz"), columns, data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, [3]int{1259, 97, 1056}, [3]int{p.N, p.D, p.Missing()})
	complete, err := data.Present(p, 1)
	require.NoError(t, err)
	require.Equal(t, 92, complete.D)
	// Only three columns of Kaggle's file are read.
	p, err = data.ReadClosingPrices(real(t, "all_stocks_5yr_sample.csv"), columns, data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, [2]int{73, 30}, [2]int{p.N, p.D})
}

// A long table of n lines may give n² cells, which is refused before allocation.
func TestWidePricesNeedMemory(t *testing.T) {
	t.Setenv(memory.Variable, "10MB")
	text := "date,close,name\n"
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := range 1000 {
		text += fmt.Sprintf("%s,1,n%d\n", day.AddDate(0, 0, k).Format(time.DateOnly), k)
	}
	path := filepath.Join(t.TempDir(), "p.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	_, err := data.ReadPrices(path, data.PriceColumns{Date: "date", Name: "name", Price: "close"}, data.ReadOptions{})
	require.EqualError(t, err, path+", a table of 1000 days and 1000 names, needs about 17 MB of memory, but only 10 MB is available: take fewer names, or fewer days, or set MISSINGSCORE_MEMORY where more is available")
}

func TestReadPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csv")
	columns := data.PriceColumns{Date: "date", Name: "name", Price: "close"}
	read := func(text string) (*data.Table, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return data.ReadPrices(path, columns, data.ReadOptions{})
	}
	const head = "date,close,name\n"
	// B has no price on the second day: both returns that use it are missing.
	table, err := read(head + "2020-01-03,4,A\n2020-01-01,1,A\n2020-01-02,2,A\n2020-01-06,2,A\n2020-01-01,5,B\n2020-01-03,5,B\n2020-01-06,10,B\n2020-01-07,2,A\n2020-01-07,5,B\n")
	require.NoError(t, err)
	require.Equal(t, []string{"A", "B"}, table.Names)
	require.Equal(t, []bool{true, false, true, false, true, true, true, true}, table.Observed)
	require.InDelta(t, math.Ln2, table.Values[0], 1e-15)
	require.InDelta(t, math.Ln2, table.Values[2], 1e-15)
	require.InDelta(t, -math.Ln2, table.Values[4], 1e-15)
	require.InDelta(t, math.Ln2, table.Values[5], 1e-15)
	require.InDelta(t, -math.Ln2, table.Values[7], 1e-15)
	// Prices on the days on which a chosen name has one.
	require.NoError(t, os.WriteFile(path, []byte(head+"2020-01-03,4,B\n2020-01-01,1.5,A\n2020-01-01,5,B\n2020-01-03,2,A\n2020-01-02,9,C\n2020-01-06,,A\n"), 0o600))
	table, err = data.ReadClosingPrices(path, columns, data.ReadOptions{Columns: []string{"B", "A"}})
	require.NoError(t, err)
	require.Equal(t, []string{"B", "A"}, table.Names)
	require.Equal(t, []float64{5, 1.5, 4, 2}, table.Values)
	require.Equal(t, 2, table.Dropped)
	for text, want := range map[string]string{
		"2020-01-01,1,A\n2020-01-01,2,A\n": `p.csv:3: "A" on 2020-01-01 is on line 2 already`,
		"2020-01-01,1,A\n2020-01-02,0,A\n": `p.csv:3: column "close": "0" is not positive`,
		"1/2/20,1,A\n":                     `p.csv:2: column "date": "1/2/20" is not a date`,
	} {
		_, err := read(head + text)
		require.ErrorContains(t, err, want)
	}
}
