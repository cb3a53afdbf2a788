package data

import (
	"fmt"
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
		s, err := openSheet(file, o.Comma)
		var want *Table
		if err == nil {
			want, err = s.table(o)
		}
		got, ok, direct := readDirectly(file, o)
		require.NoError(t, direct)
		if !ok {
			require.Nil(t, got)
			continue
		}
		found++
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	require.Greater(t, found, 200)
}

// Regular tables are read directly; what cannot be read twice is not.
func TestWhatIsReadDirectly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	b.WriteString("id,x,y\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "r%d,%d,%d\n", i, i, i%7)
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	got, ok, err := readDirectly(file, ReadOptions{Columns: []string{"y", "x"}})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 3000, got.N)
	require.Equal(t, []float64{2501 % 7, 2501}, got.Values[2*2501:2*2502])
	require.Equal(t, 2503, got.Lines[2501])
	_, ok, err = readDirectly(file, ReadOptions{}) // a column of text
	require.NoError(t, err)
	require.False(t, ok)
	_, ok, err = readDirectly(os.DevNull, ReadOptions{})
	require.NoError(t, err)
	require.False(t, ok)

	t.Setenv(memory.Variable, strconv.Itoa(3000*26-1)+"B")
	_, _, err = readDirectly(file, ReadOptions{Columns: []string{"y", "x"}})
	var full *memory.Error
	require.ErrorAs(t, err, &full)
	require.ErrorContains(t, err, file)
}
