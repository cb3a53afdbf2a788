package data

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/data/format"
	"missingscore/internal/fuzztest"
)

// faultyFiles are faults possible in any format: header, rows and the message; %[1]s is the place
// of the second row, %[2]s of the header.
var faultyFiles = []struct {
	name   string
	header []string
	rows   [][]string
	want   string
}{
	{"no rows", []string{"a", "b"}, nil, `: a header but no rows`},
	{"one row", []string{"a", "b"}, [][]string{{"1", "2"}}, `: only 1 row has a value; at least 2 are needed`},
	{"a word", []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "heavy"}, {"5", "1"}}, `%[1]s: column "b": "heavy" is not a number; `},
	{"words", []string{"a", "b"}, [][]string{{"1", "m"}, {"3", "f"}, {"5", "m"}}, `: column "b": "m" is not a number; the column has no numbers: leave it out with ReadOptions.Columns a`},
	{"no value", []string{"a", "b"}, [][]string{{"1", ""}, {"3", "NA"}, {"5", ""}}, `: column "b": no observed value; leave it out with ReadOptions.Columns a`},
	{"constant", []string{"a", "b"}, [][]string{{"1", "7"}, {"3", "7"}, {"5", ""}}, `: column "b": constant, every observed value is 7; leave it out with ReadOptions.Columns a`},
	{"equal names", []string{"a", "a"}, [][]string{{"1", "2"}, {"3", "4"}}, `%[2]s: two columns are named "a"; correct the header`},
	{"too large", []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "1e200"}, {"5", "1"}}, `%[1]s: column "b": "1e200" is too large`},
	{"thousands", []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "1,234.5"}, {"5", "1"}}, `%[1]s: column "b": "1,234.5" is not a number; `},
	{"infinite", []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "Inf"}, {"5", "1"}}, `%[1]s: column "b": "Inf" is infinite; correct the cell, or read it as missing: ReadOptions.NA `},
	{"percent", []string{"a", "b"}, [][]string{{"1", "2"}, {"3", "12 %"}, {"5", "1"}}, `%[1]s: column "b": "12 %" is not a number; `},
}

// oneMessage requires a one-line error about a file, with bounded time and memory.
func oneMessage(t *testing.T, path string) string {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	table, err := ReadFile(path, ReadOptions{})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20), "bytes")
	require.Less(t, took, 20*time.Second)
	if err == nil {
		require.NotNil(t, table)
		return ""
	}
	if path == "-" {
		path = "standard input"
	}
	require.Contains(t, err.Error(), path)
	require.NotContains(t, err.Error(), "\n")
	require.Empty(t, fuzztest.Unknown(err.Error()))
	return err.Error()
}

// Messages name the place of each fault, for every format.
func TestFaultyFiles(t *testing.T) {
	dir := t.TempDir()
	was := standardInput
	defer func() { standardInput = was }()
	for _, end := range []string{".csv", ".tsv", ".csv.gz", ".csv.zst", ".xlsx", ".parquet", ".feather", "stdin"} {
		for _, f := range faultyFiles {
			if f.name == "equal names" && (end == ".xlsx" || end == ".parquet" || end == ".feather") { // such files cannot be written
				continue
			}
			t.Run(end+" "+f.name, func(t *testing.T) {
				path := filepath.Join(dir, strings.ReplaceAll(f.name, " ", "-")+end)
				var columns []format.Column
				for _, name := range f.header {
					columns = append(columns, format.Column{Name: name, Kind: format.Text})
				}
				name, file := path, path
				if end == "stdin" {
					name, file = "standard input", path+".csv"
				}
				writeTo(t, file, columns, f.rows)
				if end == "stdin" {
					content, err := os.ReadFile(file)
					require.NoError(t, err)
					standardInput = func() ([]byte, error) { return content, nil }
					path = Stdin
				}
				second, header := name+":3", name+":1"
				if end == ".parquet" || end == ".feather" {
					second, header = name+", row 2", name
				}
				want := strings.ReplaceAll(strings.ReplaceAll(f.want, "%[1]s", second), "%[2]s", header)
				got := oneMessage(t, path)
				require.Contains(t, got, want)
				require.True(t, strings.HasPrefix(got, name), got)
			})
		}
	}
}
