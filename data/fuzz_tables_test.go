package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/fuzztest"
)

func readsAgain(t testing.TB, text string, table *data.Table) {
	require.Len(t, table.Values, table.N*table.D)
	require.Len(t, table.Observed, table.N*table.D)
	written, err := fuzztest.Written(t, "t.csv", data.WriteCSV)(table)
	require.NoError(t, err)
	back, err := fuzztest.InFile(t, "t.csv", func(path string) (*data.Table, error) {
		return data.ReadCSV(path, data.ReadOptions{Columns: table.Names})
	})(written)
	require.NoError(t, err, "%q", text)
	require.Equal(t, table.Names, back.Names)
	require.Equal(t, table.Values, back.Values)
	require.Equal(t, table.Observed, back.Observed)
}

func FuzzReadWeighted(f *testing.F) {
	fuzztest.Reader[*data.Table]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (*data.Table, error) { return data.ReadWeighted(path, "w", data.ReadOptions{}) }),
		Check: func(t testing.TB, text string, table *data.Table) {
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
	read := func(path string) (*data.Cells, error) {
		return data.ReadCells(path, data.ReadOptions{Columns: []string{"b", "a"}})
	}
	again := fuzztest.InFile(f, "again.csv", read)
	complete := fuzztest.Written(f, "out.csv", func(path string, c *data.Cells) error {
		values := slices.Clone(c.Table.Values)
		for i, seen := range c.Table.Observed {
			if !seen {
				values[i] = fill
			}
		}
		return c.WriteCompleted(atomicfile.Write, path, values, 1)
	})
	fuzztest.Reader[*data.Cells]{
		Read:  fuzztest.InFile(f, "t.csv", read),
		Write: complete,
		Check: func(t testing.TB, text string, c *data.Cells) {
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
	type rows struct {
		names    []string
		values   []float64
		observed []bool
	}
	add := func(all *rows, t *data.Table) {
		all.names = t.Names
		for i := range t.N {
			if from, to := i*t.D, (i+1)*t.D; slices.Contains(t.Observed[from:to], true) {
				all.values, all.observed = append(all.values, t.Values[from:to]...), append(all.observed, t.Observed[from:to]...)
			}
		}
	}
	whole := fuzztest.InFile(f, "t.csv", func(path string) (all rows, err error) {
		for t, err := range data.Blocks(path, data.ReadOptions{}) {
			if err != nil {
				return all, err
			}
			add(&all, t)
		}
		return all, nil
	})
	fuzztest.Reader[rows]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (all rows, err error) {
			r, err := data.OpenRows(path, data.ReadOptions{}, 2)
			if err != nil {
				return all, err
			}
			defer r.Close()
			for k := range r.Blocks() {
				t, err := r.Block(k)
				if err != nil {
					return all, err
				}
				add(&all, t)
			}
			return all, nil
		}),
		Check: func(t testing.TB, text string, all rows) {
			want, err := whole(text)
			require.NoError(t, err, "%q", text)
			require.Equal(t, want, all, "%q", text)
		},
		Accepts: []string{"a,b\n1,\n2,3\n,\n4,5\n-1,2\n", "a;b\n1,5;2\n;-3,25\n2;2\n", "a\tb\n\"1\n\"\t2\n3\t4\n5\t6\n", "x\n1\n\n2\n3\n", "a,b\r\n\"1\",NA\r\n2,3\r\n4,5"},
		Refuses: []string{"", "a,b\n", "a,b\n1,x\n2,3\n", "a,b\n1,2\n3\n", "a,b\n1,\"2\n3,4\n", "\x1f\x8b\x08"},
	}.Fuzz(f)
}

func FuzzReadGroups(f *testing.F) {
	fuzztest.Reader[[2]data.Group]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (groups [2]data.Group, err error) {
			groups, _, err = data.ReadGroups(path, "g", nil, data.ReadOptions{})
			return groups, err
		}),
		Check: func(t testing.TB, _ string, groups [2]data.Group) {
			require.NotNil(t, groups[0].Table)
			require.NotNil(t, groups[1].Table)
		},
		Accepts: []string{"g,x1,x2\na,1,2\nb,3,4\na,5,6\nb,7,9\n"},
		Others:  []string{"g,x1\na,1\na,2\n", "x1,g\n1,a\n2,\n3,b\n4,c\n", "g\n", ""},
	}.Fuzz(f)
}
