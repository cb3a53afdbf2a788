package data

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// blocksOf counts nonblank rows of the file.
func blocksOf(t *testing.T, path string, o ReadOptions, rows int, droppedAt map[int]bool) (cut []*Table) {
	t.Helper()
	i := 0
	for b, err := range Blocks(path, o) {
		require.NoError(t, err)
		at := 0
		for range b.N + b.Dropped {
			if i%rows == 0 {
				cut = append(cut, blank(b.Names, 0))
			}
			last := cut[len(cut)-1]
			if droppedAt[i] {
				last.Dropped++
			} else {
				last.Values, last.Observed = append(last.Values, b.Values[at*b.D:(at+1)*b.D]...), append(last.Observed, b.Observed[at*b.D:(at+1)*b.D]...)
				last.Lines, last.N = append(last.Lines, b.Lines[at]), last.N+1
				at++
			}
			i++
		}
	}
	return cut
}

func writeGroups(t *testing.T, path string, rows [][]string, size int) {
	t.Helper()
	type row struct {
		A *float64 `parquet:"a,optional"`
		B *float64 `parquet:"b; c,optional"`
		K *int64   `parquet:"k,optional"`
	}
	file, err := os.Create(path)
	require.NoError(t, err)
	out := parquet.NewGenericWriter[row](file, parquet.PageBufferSize(1024))
	for i, cells := range rows {
		var r row
		for j, cell := range cells {
			if cell == "" {
				continue
			}
			x, err := number(cell)
			require.NoError(t, err)
			k := int64(x)
			switch j {
			case 0:
				r.A = &x
			case 1:
				r.B = &x
			case 2:
				r.K = &k
			}
		}
		_, err := out.Write([]row{r})
		require.NoError(t, err)
		if (i+1)%size == 0 {
			require.NoError(t, out.Flush())
		}
	}
	require.NoError(t, out.Close())
	require.NoError(t, file.Close())
}

func TestRowFile(t *testing.T) {
	dir := t.TempDir()
	columns, rows := numbersOnly(9000)
	dropped := map[int]bool{0: true, 7: true, 4095: true, 8999: true}
	for i := range dropped {
		rows[i] = []string{"", "", ""}
	}
	columns[1].Name = "b; c"
	plain := filepath.Join(dir, "t.csv")
	writeTo(t, plain, columns, rows)
	text, err := os.ReadFile(plain)
	require.NoError(t, err)
	odd := "\ufeff" + strings.ReplaceAll(strings.Replace(string(text), "\n", "\n\n", 1), "9\n", "9\r\n")
	odd = strings.Replace(strings.Replace(odd, "a,", "\"a\",", 1), ",-14\n", ",\"-14\n\"\n", 1) // k = 6² − 50, quoted over two lines
	require.NoError(t, os.WriteFile(filepath.Join(dir, "odd.csv"), []byte(odd), 0o600))
	writeGroups(t, filepath.Join(dir, "groups.parquet"), rows, 1300)
	for _, o := range []ReadOptions{{}, {Columns: []string{"k", "a"}, NA: []string{"50", "-50"}}} {
		dropped := dropped
		if o.Columns != nil {
			dropped = map[int]bool{}
			for i, row := range rows {
				dropped[i] = (row[0] == "") && (row[2] == "" || row[2] == "50" || row[2] == "-50")
			}
		}
		for _, name := range []string{"t.csv", "odd.csv", "t.parquet", "groups.parquet", "t.feather"} {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil {
				writeTo(t, path, columns, rows)
			}
			for _, size := range []int{17, 1000, 1300, 4096, 10000} {
				want := blocksOf(t, path, o, size, dropped)
				f, err := OpenRows(path, o, size)
				require.NoError(t, err, name)
				require.Equal(t, 9000, f.Rows)
				require.Equal(t, len(want), f.Blocks())
				var together errgroup.Group
				together.SetLimit(3)
				for i := range want {
					k := (i*7 + 3) % len(want)
					if len(want)%7 == 0 {
						k = len(want) - 1 - i
					}
					together.Go(func() error {
						got, err := f.Block(k)
						if err == nil && got.N == 0 {
							got.Values, got.Observed, got.Lines = want[k].Values, want[k].Observed, want[k].Lines
						}
						if err == nil && fmt.Sprint(got) != fmt.Sprint(want[k]) {
							err = fmt.Errorf("%s, block %d of %d rows", name, k, size)
						}
						return err
					})
				}
				require.NoError(t, together.Wait())
				require.NoError(t, f.Close())
			}
		}
	}
}

func TestRowFileRefuses(t *testing.T) {
	dir := t.TempDir()
	columns, rows := numbersOnly(100)
	for name, words := range map[string]string{
		"t.csv.gz": "it is compressed: decompress it", "t.parquet.zst": "it is compressed", "t.xlsx": "it is an Excel workbook, which must be loaded whole: save it as CSV or Parquet",
	} {
		path := filepath.Join(dir, name)
		writeTo(t, path, columns, rows)
		_, err := OpenRows(path, ReadOptions{}, 0)
		require.ErrorContains(t, err, words)
		var sequential *SequentialError
		require.ErrorAs(t, err, &sequential)
	}
	_, err := OpenRows(Stdin, ReadOptions{}, 0)
	require.ErrorContains(t, err, "standard input: mini-batches from a file need random access: write it to a file first")
	_, err = OpenRows(filepath.Join(dir, "none"), ReadOptions{}, 0)
	require.ErrorIs(t, err, os.ErrNotExist)
	for name, text := range map[string]string{"empty.csv": "", "header.csv": "a,b\n", "bad.csv": "a,b\n1,2\n3,x\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err = OpenRows(filepath.Join(dir, "empty.csv"), ReadOptions{}, 0)
	require.ErrorContains(t, err, "the file is empty")
	_, err = OpenRows(filepath.Join(dir, "header.csv"), ReadOptions{}, 0)
	require.ErrorContains(t, err, "a header but no rows")
	f, err := OpenRows(filepath.Join(dir, "bad.csv"), ReadOptions{}, 1)
	require.NoError(t, err)
	_, err = f.Block(1)
	require.ErrorContains(t, err, `bad.csv:3: column "b": "x" is not a number`)
	_, err = f.Block(2)
	require.ErrorContains(t, err, "there is no block 3 among 2")
	require.NoError(t, os.Chtimes(filepath.Join(dir, "bad.csv"), time.Time{}, time.Now().Add(time.Hour)))
	_, err = f.Block(0)
	require.ErrorContains(t, err, "the file changed since it was opened")
	require.NoError(t, f.Close())
}
