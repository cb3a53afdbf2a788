package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
)

// fuzzed reads whatever a file may hold: a table or an error in plain words, and never a panic.
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
	fuzzed(f, ".feather", fileOf(f, "t.feather", func(t testing.TB, path string) { arrowOfAll(t, path, false) }),
		fileOf(f, "s.feather", func(t testing.TB, path string) { arrowOfAll(t, path, true) }))
}

// What blocks hold is what the whole text does, however it is quoted and separated.
func FuzzReadText(f *testing.F) {
	accepted := 0
	for _, seed := range []string{"a,b\n1,\n2,3\n", "a;b\n1,5;2\n;-3,25\n", "a\tb\n\"1\n\"\t2\n", "x\n1\n\n2\n", "a,b\n1,2\n3,5\n-1,\n", "a;b\n1,5;2\n-2;-3,25\n", "\"a\"\t\"b c\"\n1\t2\n3\tNA\n4\t1e-3\n", "a,b\r\n\"1\",NA\r\n2,3", "a|b\n1|1e5\n2|.5\n", "a,b\n1,\"2\n3,4\n"} {
		if _, err := ParseCSV(strings.NewReader(seed), "t.csv", ReadOptions{}); err == nil {
			accepted++
		}
		f.Add(seed)
	}
	require.GreaterOrEqual(f, accepted, 5)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if strings.HasPrefix(text, "PAR1") || strings.HasPrefix(text, "PK\x03\x04") || strings.HasPrefix(text, "ARROW1") {
			return
		}
		got, err := ReadCSV(path, ReadOptions{})
		want, other := ParseCSV(strings.NewReader(text), path, ReadOptions{})
		if other != nil && err != nil {
			return
		}
		require.Equal(t, other, err)
		require.Equal(t, want, got)
	})
}
