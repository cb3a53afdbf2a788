package data

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// What is read directly is what the sheet reads, to the bit.
func TestDirectReadingIsTheSheets(t *testing.T) {
	pieces := []string{"1", "-2.5e-3", " 7 ", "", "NA", "-99", "\"3\"", "0.1", "1e10", "?"}
	odd := []string{"x", "1,5", "inf", "1e400", "\"a\nb\"", "0x10", "1_000", "--1", "\"1\"2", "5\t"}
	rng := stream.New(3, 1)
	found := 0
	for trial := range 800 {
		comma, o := ",", ReadOptions{}
		if trial%5 == 0 {
			comma, o.Comma = "\t", '\t'
		}
		if trial%3 == 0 {
			o.NA = []string{"NA", "-99"}
		}
		if trial%4 == 0 {
			o.Columns = []string{"c", "a"}
		}
		end := []string{"\n", "\r\n"}[rng.IntN(2)]
		var b strings.Builder
		if rng.IntN(10) == 0 {
			b.WriteString("\ufeff")
		}
		b.WriteString(strings.Join([]string{"a", "\"b\"", " c"}, comma) + end)
		for range 2 + rng.IntN(6) {
			var cells []string
			for range 3 {
				cell := pieces[rng.IntN(len(pieces))]
				if rng.IntN(60) == 0 {
					cell = odd[rng.IntN(len(odd))]
				}
				cells = append(cells, cell)
			}
			if rng.IntN(60) == 0 {
				cells = cells[:2]
			}
			b.WriteString(strings.Join(cells, comma) + end)
			if rng.IntN(20) == 0 {
				b.WriteString([]string{"", "  ", "\t"}[rng.IntN(3)] + end)
			}
		}
		text := b.String()
		if rng.IntN(5) == 0 {
			text = strings.TrimRight(text, "\r\n")
		}
		file := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := openSheet(file, o)
		var want *Table
		if err == nil {
			want, err = s.table(o)
		}
		got, other := ReadCSV(file, o)
		if err != nil {
			require.EqualError(t, other, err.Error(), text)
			continue
		}
		found++
		require.NoError(t, other, text)
		require.Equal(t, want, got, text)
	}
	require.Greater(t, found, 200)
}

// A table comes in blocks of whole rows that hold what the table does, from a file and from a pipe.
func TestBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	b.WriteString("id,x,y\n")
	for i := range 200000 {
		if i%1000 == 7 {
			fmt.Fprintf(&b, "\"r\n%d\",,\n", i)
			continue
		}
		fmt.Fprintf(&b, "r%d,%d.5,%d\n", i, i, i%7)
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	o := ReadOptions{Columns: []string{"y", "x"}}
	var taken int64
	o.Progress = func(read, size int64) {
		require.GreaterOrEqual(t, read, taken)
		require.EqualValues(t, b.Len(), size)
		taken = read
	}
	want, err := ReadCSV(file, o)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), taken)
	require.Equal(t, 200000-200, want.N)
	require.Equal(t, 200, want.Dropped)
	require.Equal(t, []float64{2501 % 7, 2501.5}, want.Values[2*(2501-3):2*(2501-2)])
	require.Equal(t, 2503+3, want.Lines[2501-3])

	taken = 0
	got, blocks := blank(want.Names, 0), 0
	for part, err := range Blocks(file, o) {
		require.NoError(t, err)
		require.Equal(t, want.Names, part.Names)
		got.Values, got.Observed, got.Lines = append(got.Values, part.Values...), append(got.Observed, part.Observed...), append(got.Lines, part.Lines...)
		got.N, got.Dropped = got.N+part.N, got.Dropped+part.Dropped
		blocks++
	}
	require.Equal(t, want, got)
	require.Greater(t, blocks, 2)
	for part, err := range Blocks(file, ReadOptions{Columns: []string{"y", "x"}}) {
		require.NoError(t, err)
		require.Positive(t, part.N)
		break
	}

	for range 3 { // the error is the first in the file, whatever block comes first
		var last error
		for _, last = range Blocks(file, ReadOptions{Exclude: []string{"y"}}) {
		}
		require.EqualError(t, last, file+`:2: column "id": "r0" is not a number; no cell of this column is: leave it out with --columns x`)
	}
}

func TestTableIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(file, []byte("x,y\n"+strings.Repeat("1,2\n3,4\n", 1500)), 0o600))
	_, err := ReadCSV(file, ReadOptions{})
	require.NoError(t, err)
	t.Setenv(memory.Variable, strconv.Itoa(3000*26-1)+"B")
	_, err = ReadCSV(file, ReadOptions{})
	var full *memory.Error
	require.ErrorAs(t, err, &full)
	require.ErrorContains(t, err, file)
}

// Marks that numbers could be written with, but are none, leave numbers to the short way; a mark
// that is a number does not. All are missing cells.
func TestMarksThatLookLikeNumbers(t *testing.T) {
	for _, c := range []struct {
		marks   []string
		numeric bool
	}{{nil, false}, {[]string{".", "-", "e"}, false}, {[]string{".", "-99"}, true}} {
		s := &sheet{dialect: dialect{comma: ',', decimal: '.'}, header: []string{"a", "b"}}
		p, err := newLineParser(s, ReadOptions{NA: c.marks})
		require.NoError(t, err)
		require.True(t, p.likely)
		require.Equal(t, c.numeric, p.numeric)
		b := &block{text: []byte("1.5,.\n.,2\n-99,1.7976931348623157\n"), first: 2}
		require.NoError(t, p.parse(b))
		require.Equal(t, []bool{true, false, false, true, !c.numeric, true}, b.observed)
		require.Equal(t, []float64{1.5, 2, 1.7976931348623157}, []float64{b.values[0], b.values[3], b.values[5]})
	}
}

// What is read without strconv is what strconv reads.
func TestSimpleNumbers(t *testing.T) {
	rng := stream.New(5, 1)
	found := 0
	check := func(cell string) {
		got, ok := simpleNumber([]byte(cell), '.')
		want, err := strconv.ParseFloat(cell, 64)
		if !ok {
			return
		}
		found++
		require.NoError(t, err, cell)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), cell)
	}
	for _, cell := range []string{"", "-", ".", "-.", "0", "-0", "5.", ".5", "-.25", "1.2.3", "+1", "1e5", "--1", "999999999999999", "9999999999999999", "0.000000000000001", "123456789.12345678"} {
		check(cell)
	}
	for range 20000 {
		check(strconv.FormatFloat((rng.Float64()-0.5)*math.Pow(10, float64(rng.IntN(14)-4)), 'f', rng.IntN(15), 64))
	}
	require.Greater(t, found, 10000)
}

// Growing a table counts the numbers that are copied: old and new are held together.
func TestGrowthIsBounded(t *testing.T) {
	const limit = 1e6
	b := &block{values: make([]float64, 200), observed: make([]bool, 200), lines: make([]int, 100)}
	g := &gatherer{name: "t.csv.gz", limit: limit, table: blank([]string{"x", "y"}, 0)}
	most := 0
	for {
		before := cap(g.table.Lines)
		err := g.add(b)
		if err != nil {
			require.ErrorContains(t, err, "t.csv.gz, read up to line ")
			break
		}
		if after := cap(g.table.Lines); after != before {
			most = max(most, (before+after)*(9*2+8))
		}
	}
	require.Less(t, most, int(memory.Room(limit)))
	require.Greater(t, most, int(memory.Room(limit))/2)
}
