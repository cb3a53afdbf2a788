package data

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
)

func fuzzed(f *testing.F, end string, seeds ...[]byte) {
	columns, rows := numbersOnly(40)
	path := filepath.Join(f.TempDir(), "t"+end)
	writeTo(f, path, columns, rows)
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Setenv(memory.Variable, "200MB")
	_, err = ReadFile(path, ReadOptions{})
	require.NoError(f, err)
	for _, seed := range append(seeds, whole, whole[:len(whole)/2]) { // those given have columns of words, which are refused
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "t"+end)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		table, err := ReadFile(path, ReadOptions{})
		if err != nil {
			require.Nil(t, table)
			require.NotContains(t, err.Error(), "internal error")
			return
		}
		require.Len(t, table.Values, table.N*table.D)
		require.Len(t, table.Observed, table.N*table.D)
		n := 0
		for part, err := range Blocks(path, ReadOptions{}) {
			require.NoError(t, err)
			n += part.N
		}
		require.Equal(t, table.N, n)
	})
}

func fileOf(f *testing.F, name string, make func(f testing.TB, path string)) []byte {
	path := filepath.Join(f.TempDir(), name)
	make(f, path)
	content, err := os.ReadFile(path)
	require.NoError(f, err)
	return content
}

func FuzzReadExcel(f *testing.F) {
	fuzzed(f, ".xlsx", fileOf(f, "t.xlsx", excelOf))
}

func FuzzReadParquet(f *testing.F) {
	fuzzed(f, ".parquet", fileOf(f, "t.parquet", func(t testing.TB, path string) { parquetOfAll(t, path, 20) }))
}

func FuzzReadArrow(f *testing.F) {
	fuzzed(f, ".feather", fileOf(f, "t.feather", arrowOfAll))
}
