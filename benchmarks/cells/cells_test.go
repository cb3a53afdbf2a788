package cells_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

func TestRunComputesMissingCells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	runs := 0
	squares := func(fail int) (out []cells.Cell) {
		for i := range 5 {
			out = append(out, cells.Cell{Key: []string{"k", strconv.Itoa(i)}, Run: func(context.Context) ([]string, error) {
				runs++
				if i == fail {
					return nil, errors.New("no luck")
				}
				return []string{strconv.Itoa(i * i)}, nil
			}})
		}
		return out
	}
	var failed []string
	report := func(key []string, err error) { failed = append(failed, key[1]+": "+err.Error()) }
	header := []string{"kind", "i", "square"}
	records, err := cells.Run(context.Background(), path, header, squares(3), 1, cells.Hooks{Failed: report})
	require.NoError(t, err)
	require.Len(t, records, 4)
	require.Equal(t, []string{"3: no luck"}, failed)
	require.Equal(t, 5, runs)
	records, err = cells.Run(context.Background(), path, header, squares(-1), 1, cells.Hooks{Failed: report})
	require.NoError(t, err)
	require.Equal(t, 6, runs, "only the failed cell runs again")
	require.Equal(t, []string{"k", "3", "9"}, records[3])
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "kind,i,square\nk,0,0\nk,1,1\nk,2,4\nk,4,16\nk,3,9\n", string(text))
	require.NoError(t, os.WriteFile(path, text[:len(text)-2], 0o600)) // killed while it wrote
	records, err = cells.Run(context.Background(), path, header, squares(-1), 3, cells.Hooks{})
	require.NoError(t, err)
	require.Equal(t, 7, runs)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	require.Equal(t, []string{"k", "3", "9"}, records[3])
	_, err = cells.Run(context.Background(), path, []string{"other"}, squares(-1), 1, cells.Hooks{Failed: report})
	require.ErrorContains(t, err, "choose another file")
}

func TestPanicFailsOneCell(t *testing.T) {
	cell := func(name string, run func() []string) cells.Cell {
		return cells.Cell{Key: []string{name}, Run: func(context.Context) ([]string, error) { return run(), nil }}
	}
	three := []cells.Cell{
		cell("bad", func() []string { panic("shape") }),
		cell("short", func() []string { return nil }),
		cell("good", func() []string { return []string{"1"} }),
	}
	var failed []string
	last := 0
	records, err := cells.Run(context.Background(), filepath.Join(t.TempDir(), "r.csv"), []string{"name", "x"}, three, 2, cells.Hooks{
		Failed: func(key []string, err error) {
			failed = append(failed, key[0]+": "+strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '(' || r == '\n' })[0])
		},
		Progress: func(done, total int) { last = done; require.Equal(t, 3, total) },
	})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"good", "1"}}, records)
	require.ElementsMatch(t, []string{"bad: internal error: shape ", "short: 0 values for 1 columns"}, failed)
	require.Equal(t, 3, last)
}

func TestAbsent(t *testing.T) {
	cell := func(name string, err error) cells.Cell {
		return cells.Cell{Key: []string{name}, Run: func(context.Context) ([]string, error) { return []string{"1"}, err }}
	}
	var absent, failed []string
	path := filepath.Join(t.TempDir(), "r.csv")
	records, err := cells.Run(t.Context(), path, []string{"name", "x"}, []cells.Cell{cell("a", fmt.Errorf("%w: R", cells.ErrAbsent)), cell("b", nil)}, 1, cells.Hooks{
		Absent: func(key []string, err error) { absent = append(absent, key[0]+": "+err.Error()) },
		Failed: func(key []string, _ error) { failed = append(failed, key[0]) },
	})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"b", "1"}}, records)
	require.Equal(t, []string{"a: not found: R"}, absent)
	require.Empty(t, failed)
}
