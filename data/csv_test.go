package data

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
)

func TestReadErrorsCanBeInspected(t *testing.T) {
	_, err := ReadCSV(filepath.Join(t.TempDir(), "none.csv"), ReadOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = ParseCSV(strings.NewReader("a,b\n1,5\n2,5\n"), "t.csv", ReadOptions{})
	var column *ColumnError
	require.ErrorAs(t, err, &column)
	require.Equal(t, ColumnError{Column: "b", Problem: "constant, every observed value is 5"}, *column)
	_, err = ParseCSV(io.MultiReader(strings.NewReader("a,b\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), "t.csv", ReadOptions{})
	require.EqualError(t, err, "t.csv: cannot be read: it ends too early")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestWriteCSV(t *testing.T) {
	table := &Table{
		Names: []string{"a", "b, c"}, N: 4, D: 2,
		Values:   []float64{0.1, 1000000, -1.0 / 3, 0, 1e-7, 1e21, 47054310, 5},
		Observed: []bool{true, true, true, false, true, true, true, true},
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, WriteCSV(path, table))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a,\"b, c\"\n0.1,1000000\n-0.3333333333333333,\n1e-07,1e+21\n47054310,5\n", string(text))

	require.ErrorIs(t, WriteCSV(filepath.Join(t.TempDir(), "none", "t.csv"), table), fs.ErrNotExist)
}

func FuzzParseCSV(f *testing.F) {
	f.Add("a,b\n1,2\n3,5\n-1,\n", ',', "")
	f.Add("\ufeffa;b\r\n\"1\";NA\r\n-2e-5;.\r\n3;4\r\n", ';', ".")
	f.Add("a\tb\n1\t\"x\ny\"\n", '\t', "x")
	f.Add("\"a\"\"\",b|c\n1,1e999\n,0x1p2\n", '|', "1e999")
	f.Add(",b\n1,2\n\x00,3", ',', "NA")
	f.Fuzz(func(t *testing.T, text string, comma rune, na string) {
		fuzztest.Reader[*Table]{
			Read: func(text string) (*Table, error) {
				return ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{Comma: comma, NA: []string{na}})
			},
			Check: func(t testing.TB, text string, table *Table) {
				require.IsIncreasing(t, append([]int{0}, table.Lines...))
				readsAgain(t, text, table)
			},
		}.Try(t, text)
	})
}

// endless repeats one byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReadingIsBounded(t *testing.T) {
	read := func(r io.Reader) error {
		_, err := ParseCSV(r, "t.csv", ReadOptions{})
		return err
	}
	require.ErrorContains(t, read(endless(0)), "t.csv:1: not a text in UTF-8")
	require.EqualError(t, read(io.MultiReader(strings.NewReader("a,b\n1,2\n"), endless('7'))),
		"t.csv:3: the line is longer than 67.1 MB: a table has a line for each row")
	require.ErrorContains(t, read(endless('\n')), "t.csv: it begins with more than 67.1 MB of blank lines")
	t.Setenv(memory.Variable, "20MB")
	require.ErrorContains(t, read(io.MultiReader(strings.NewReader("a\n\""), endless('\n'))), "of memory, but only 20 MB is available")
}

// Many short rows need much more memory than their text.
func TestRowsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	fmt.Fprint(z, "a\n0\n", strings.Repeat("1\n", 2_000_000))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	table, err := ReadCSV(path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 2_000_001, table.N)

	t.Setenv(memory.Variable, "20MB")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ReadCSV(path, ReadOptions{})
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "t.csv.gz, read up to line ")
	require.ErrorContains(t, err, "of memory, but only 20 MB is available: take fewer rows")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200e6))
}

func TestTextInParts(t *testing.T) {
	text := "\ufeffα,β,𝒳\n1,2,3\n4,5,6\n"
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		table, err := ParseCSV(r, "t.csv", ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"α", "β", "𝒳"}, table.Names)
	}
	long := "a,b\n" + strings.Repeat("1,2\n3,4\n", 5000)
	for _, bad := range []string{"\xff", "\xc3", "\xf0\x9d\x92", "\x00"} {
		for _, r := range []io.Reader{strings.NewReader(long + bad), iotest.OneByteReader(strings.NewReader(long + bad + "\n"))} {
			_, err := ParseCSV(r, "t.csv", ReadOptions{})
			require.ErrorContains(t, err, "t.csv:10002: not a text in UTF-8")
		}
	}
}
