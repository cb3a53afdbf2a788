package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Blocks in any order, by several workers, are the rows of the whole file.
func TestRowFile(t *testing.T) {
	const n = 4500
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	columns, rows := numbersOnly(n)
	for _, i := range []int{0, 7, 4095, n - 1} {
		rows[i] = []string{"", "", ""}
	}
	columns[1].Name = "b; c"
	for _, name := range []string{"t.csv", "t.parquet", "t.feather"} {
		writeTo(t, at(name), columns, rows)
	}
	text, err := os.ReadFile(at("t.csv"))
	require.NoError(t, err)
	odd := "\ufeff" + strings.ReplaceAll(strings.Replace(string(text), "\n", "\n\n", 1), "9\n", "9\r\n")
	odd = strings.Replace(odd, "a,", "\"a\",", 1)
	odd = strings.Replace(odd, ",-14\n", ",\"-14\n\"\n", 1) // k = 6² − 50, quoted over two lines
	require.NoError(t, os.WriteFile(at("odd.csv"), []byte(odd), 0o600))
	parquetOfAll(t, at("groups.parquet"), n, 1300)
	numbers := []ReadOptions{{Columns: []string{"number", "flag"}}, {Exclude: []string{"name", "day", "at", "list"}}}
	both := []ReadOptions{{}, {Columns: []string{"k", "a"}, NA: []string{"50", "-50"}}}
	for name, options := range map[string][]ReadOptions{
		"t.csv": both, "odd.csv": both, "t.parquet": both, "t.feather": both, "groups.parquet": numbers,
	} {
		for _, o := range options {
			want, err := joined(at(name), o)
			require.NoError(t, err)
			for _, size := range []int{17, 1300, 4096, 10000} {
				f, err := OpenRows(at(name), o, size)
				require.NoError(t, err, name)
				require.Equal(t, n, f.Rows)
				blocks := make([]*Table, f.Blocks())
				var together errgroup.Group
				together.SetLimit(3)
				for k := len(blocks) - 1; k >= 0; k-- {
					together.Go(func() (err error) {
						blocks[k], err = f.Block(k)
						return err
					})
				}
				require.NoError(t, together.Wait())
				require.NoError(t, f.Close())
				got := &Table{}
				for k, b := range blocks {
					require.Equal(t, min(size, n-k*size), b.N+b.Dropped, "%s, block %d", name, k)
					got.add(b)
				}
				require.Equal(t, want, got, "%s in blocks of %d rows", name, size)
			}
		}
	}
}

func TestRowFileRefuses(t *testing.T) {
	dir := t.TempDir()
	columns, rows := numbersOnly(100)
	for name, words := range map[string]string{
		"t.csv.gz": "it is compressed: decompress it", "t.parquet.zst": "it is compressed",
		"t.xlsx": "it is an Excel workbook, which must be loaded whole: save it as CSV or Parquet",
		Stdin:    "standard input: mini-batches from a file need random access: write it to a file first",
	} {
		path := name
		if name != Stdin {
			path = filepath.Join(dir, name)
			writeTo(t, path, columns, rows)
		}
		_, err := OpenRows(path, ReadOptions{}, 0)
		require.ErrorContains(t, err, words)
		var sequential *SequentialError
		require.ErrorAs(t, err, &sequential)
	}
	_, err := OpenRows(filepath.Join(dir, "none"), ReadOptions{}, 0)
	require.ErrorIs(t, err, os.ErrNotExist)
	path := file(t, "bad.csv", "a,b\n1,2\n3,x\n")
	f, err := OpenRows(path, ReadOptions{}, 1)
	require.NoError(t, err)
	_, err = f.Block(1)
	require.ErrorContains(t, err, `bad.csv:3: column "b": "x" is not a number`)
	_, err = f.Block(2)
	require.ErrorContains(t, err, "there is no block 3 among 2")
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	_, err = f.Block(0)
	require.ErrorContains(t, err, "the file changed since it was opened")
	require.NoError(t, f.Close())
}
