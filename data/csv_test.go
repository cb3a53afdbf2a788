package data

import (
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"missingscore/internal/atomicfile"
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
	text := "a\n0\n" + strings.Repeat("1\n", 2_000_000)
	table, err := ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 2_000_001, table.N)

	t.Setenv(memory.Variable, "20MB")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{})
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "t.csv, read up to line ")
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

func readsAgain(t testing.TB, text string, table *Table) {
	written, err := fuzztest.Written(t, "t.csv", WriteCSV)(table)
	require.NoError(t, err)
	back, err := ReadCSV(file(t, "t.csv", written), ReadOptions{Columns: table.Names})
	require.NoError(t, err, "%q", text)
	table.Lines, back.Lines, table.Dropped = nil, nil, 0
	require.Equal(t, table, back)
}

func FuzzReadWeighted(f *testing.F) {
	fuzztest.Reader[*Table]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (*Table, error) { return ReadWeighted(path, "w", ReadOptions{}) }),
		Check: func(t testing.TB, text string, table *Table) {
			unweighted := *table
			unweighted.Weights = nil
			readsAgain(t, text, &unweighted)
			if table.Weights == nil {
				return
			}
			require.Len(t, table.Weights, table.N)
			sum := 0.0
			for _, w := range table.Weights {
				require.True(t, w >= 0 && !math.IsInf(w, 0), "%q: %v", text, table.Weights)
				sum += w
			}
			require.InDelta(t, float64(table.N), sum, 1e-9*float64(table.N), "%q: %v", text, table.Weights)
		},
		Accepts: []string{"a,w,b\n1,1,2\n3,2,5\n-1,0.5,\n", "w;a\n1,5;2\n0;7\n2;-3,25\n", "a,b,w\n1,,3\n2,3,3\n4,5,3\n", "a,w\n1,1e-140\n2,1e140\n", "a,w\n1,1\n\n,2\n3,1\n"},
		Messages: map[string]string{
			"a,w\n1,2\n2,-3\n":      `t.csv:3: column "w" of weights: -3 is negative; weights are 0 or more: correct it, or write 0 to leave the row out`,
			"a,w\n1,2\n2,\n":        `t.csv:3: column "w" of weights: the weight is missing: give the row a weight, or 0 to leave it out`,
			"a,w\n1,2\n2,heavy\n":   `t.csv:3: column "w": "heavy"`,
			"a,w\n1,2\n2,Inf\n":     `t.csv:3: column "w": "Inf"`,
			"a,w\n1,0\n2,0\n":       `no row has a value`,
			"a,b\n1,2\n2,3\n":       `no column "w"`,
			"a,w\n1,2\n1,3\n4,0\n":  `constant`,
			"w\n1\n2\n":             `every column is left out`,
			"a,w\n1,2\n2,1e200\n":   `t.csv:3: column "w": "1e200"`,
			"a,w,w\n1,2,2\n2,1,1\n": `two columns are named "w"`,
			"":                      `the file is empty`,
			"a,w\n1,1\n2,1e300\n":   `t.csv:3: column "w": "1e300"`,
		},
	}.Fuzz(f)
}

func FuzzReadCells(f *testing.F) {
	const fill = 0.125
	read := func(path string) (*Cells, error) {
		return ReadCells(path, ReadOptions{Columns: []string{"b", "a"}})
	}
	again := fuzztest.InFile(f, "again.csv", read)
	complete := fuzztest.Written(f, "out.csv", func(path string, c *Cells) error {
		values := slices.Clone(c.Table.Values)
		for i, seen := range c.Table.Observed {
			if !seen {
				values[i] = fill
			}
		}
		return c.WriteCompleted(atomicfile.Write, path, values, 1)
	})
	fuzztest.Reader[*Cells]{
		Read:  fuzztest.InFile(f, "t.csv", read),
		Write: complete,
		Check: func(t testing.TB, text string, c *Cells) {
			written, err := complete(c)
			require.NoError(t, err)
			back, err := again(written)
			require.NoError(t, err, "%q", text)
			require.Equal(t, c.Table.N, back.Table.N, "%q", text)
			for i, seen := range c.Table.Observed {
				want := fill
				if seen {
					want = c.Table.Values[i]
				}
				require.Equal(t, want, back.Table.Values[i], "%q: %q", text, written)
			}
		},
		Accepts: []string{"a,b\n1,\n", "a,id,b\n1,x,2\nNA,\"y, z\",3\n,,\n", "a;b;c\n1,5;;u\n-2;7;\n", "\"a\"\tb\n1\t\"\"\n", "a,b\n 1 ,-.5e3\n"},
		Refuses: []string{"", "a,b\n", "a\n1\n", "a,b\n1,x\n", "a,b\n1\n", "a,b,a\n1,2,3\n", "a,b\n1,Inf\n"},
	}.Fuzz(f)
}

func FuzzOpenRows(f *testing.F) {
	whole := fuzztest.InFile(f, "t.csv", func(path string) (*Table, error) { return joined(path, ReadOptions{}) })
	fuzztest.Reader[*Table]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (*Table, error) {
			r, err := OpenRows(path, ReadOptions{}, 2)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			all := &Table{}
			for k := range r.Blocks() {
				b, err := r.Block(k)
				if err != nil {
					return nil, err
				}
				all.add(b)
			}
			return all, nil
		}),
		Check: func(t testing.TB, text string, all *Table) {
			want, err := whole(text)
			require.NoError(t, err, "%q", text)
			require.Equal(t, want.Lines, all.Lines, "%q", text)
			require.Equal(t, shown(want), shown(all), "%q", text)
		},
		Accepts: []string{"a,b\n1,\n2,3\n,\n4,5\n-1,2\n", "a;b\n1,5;2\n;-3,25\n2;2\n", "a\tb\n\"1\n\"\t2\n3\t4\n5\t6\n", "x\n1\n\n2\n3\n", "a,b\r\n\"1\",NA\r\n2,3\r\n4,5"},
		Refuses: []string{"", "a,b\n", "a,b\n1,x\n2,3\n", "a,b\n1,2\n3\n", "a,b\n1,\"2\n3,4\n", "\x1f\x8b\x08"},
	}.Fuzz(f)
}

func FuzzReadGroups(f *testing.F) {
	fuzztest.Reader[[2]Group]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (groups [2]Group, err error) {
			groups, _, err = ReadGroups(path, "g", nil, ReadOptions{})
			return groups, err
		}),
		Check: func(t testing.TB, _ string, groups [2]Group) {
			require.NotNil(t, groups[0].Table)
			require.NotNil(t, groups[1].Table)
		},
		Accepts: []string{"g,x1,x2\na,1,2\nb,3,4\na,5,6\nb,7,9\n"},
		Others:  []string{"g,x1\na,1\na,2\n", "x1,g\n1,a\n2,\n3,b\n4,c\n", "g\n", ""},
	}.Fuzz(f)
}
