package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

func TestReadGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("sex,a,b\nm,1,2\nf,3,4\nNA,0,0\nf,5,\nm,7,9\nx,1,1\nf,,1\nm,,\n"), 0o600))
	groups, ungrouped, err := ReadGroups(path, "sex", []string{"m", "f"}, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, ungrouped)
	m, f := groups[0], groups[1]
	require.Equal(t, []string{"m", "f"}, []string{m.Name, f.Name})
	require.Equal(t, []string{"a", "b"}, m.Table.Names)
	require.Equal(t, []float64{1, 2, 7, 9}, m.Table.Values)
	require.Equal(t, 1, m.Table.Dropped)
	require.Equal(t, []int{3, 5, 8}, f.Table.Lines)

	for _, c := range []struct {
		by     string
		wanted []string
		o      ReadOptions
		want   string
	}{
		{"sex", nil, ReadOptions{}, `column "sex" has 3 groups: f (3 rows), m (3 rows), x (1 rows); pick two with ReadGroups f,m`},
		{"sex", []string{"m", "q"}, ReadOptions{}, `column "sex" has no group "q"; there are: f (3 rows)`},
		{"sex", []string{"m"}, ReadOptions{}, "two different groups are needed, but 1 are named: m"},
		{"sex", []string{"m", "m"}, ReadOptions{}, "two different groups"},
		{"age", nil, ReadOptions{}, `no column "age"`},
		{"sex", []string{"m", "f"}, ReadOptions{Columns: []string{"sex", "a"}}, "cannot be among the columns of the network"},
		{"sex", []string{"m", "x"}, ReadOptions{}, "(in the rows whose sex is x)"},
	} {
		_, _, err := ReadGroups(path, c.by, c.wanted, c.o)
		require.ErrorContains(t, err, c.want)
	}
	one := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(one, []byte("sex,a\nm,1\nm,2\n"), 0o600))
	_, _, err = ReadGroups(one, "sex", nil, ReadOptions{})
	var wrong *GroupError
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, `only one group, m (2 rows)`)
}

func TestNamesOfGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("stage,a,b\nlow,1,2\nhigh,3,4\nlow,5,1\nhigh,7,9\n"), 0o600))
	groups, _, err := ReadGroups(path, "stage", nil, ReadOptions{Kinds: map[string]Column{"stage": {Name: "stage", Kind: Ordered, Levels: []string{"low", "high"}}}})
	require.NoError(t, err)
	require.Equal(t, "low", groups[0].Name)
	require.Equal(t, []float64{1, 2, 5, 1}, groups[0].Table.Values)
}

func TestSameColumns(t *testing.T) {
	a, b := parsed(t, "a,b,c\n1,2,3\n3,4,9\n"), parsed(t, "c,b,a\n9,8,7\n1,2,3\n")
	first, ordered, leftOut, err := SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	require.Empty(t, leftOut)
	require.Equal(t, a.Names, ordered.Names)
	require.Equal(t, a.Values, first.Values)
	require.Equal(t, []float64{7, 8, 9, 3, 2, 1}, ordered.Values)
	_, _, _, err = SameColumns(a, parsed(t, "d,b,a\n9,8,7\n1,2,3\n"), "A.csv", "B.csv")
	require.EqualError(t, err, "A.csv has no column d, and B.csv has no column c; compare the common ones with ReadOptions.Columns a,b")
	_, _, _, err = SameColumns(a, parsed(t, "d\n9\n8\n"), "A.csv", "B.csv")
	require.ErrorContains(t, err, "no column is in both")
}

func coded(t *testing.T, text string, kinds []Kind, levels ...[]string) *Table {
	t.Helper()
	table := parsed(t, text)
	table.Kinds, table.Levels = kinds, levels
	return table
}

func TestSameLevels(t *testing.T) {
	kinds := func(k ...Kind) []Kind { return k }
	a := coded(t, "e,s,x\n0,0,1\n1,1,2\n,0,1\n", kinds(Nominal, Binary, Whole), []string{"low", "high", "none"}, []string{"0", "1"}, nil)
	b := coded(t, "x,s,e\n1.5,0,1\n2,2,0\n3,1,\n", kinds(Number, Whole, Binary), nil, nil, []string{"high", "middle"})
	first, second, _, err := SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	for _, s := range []*Table{first, second} {
		require.Equal(t, kinds(Nominal, Whole, Number), s.Kinds)
		require.Equal(t, [][]string{{"low", "high", "none", "middle"}, nil, nil}, s.Levels)
	}
	require.Equal(t, []float64{0, 0, 1, 1, 1, 2, 0, 0, 1}, first.Values)
	require.Equal(t, []float64{3, 0, 1.5, 1, 2, 2, 0, 1, 3}, second.Values)
	require.Equal(t, []float64{1.5, 0, 1, 2, 2, 0, 3, 1, 0}, b.Values, "the file's own table is as it was")
	both, err := Stack(first, second)
	require.NoError(t, err)
	require.Equal(t, first.Levels, both.Levels)
	require.Equal(t, first.Kinds, both.Kinds)

	_, _, _, err = SameColumns(a, coded(t, "e,s,x\n4,0,1\n1,1,2\n", kinds(Whole, Binary, Whole), nil, []string{"0", "1"}, nil), "A.csv", "B.csv")
	require.EqualError(t, err, `column "e" has levels in A.csv and numbers in B.csv; leave it out with ReadOptions.Exclude e`)
}

func TestLeftOutOfBoth(t *testing.T) {
	a, b := parsed(t, "a,b,c\n1,2,3\n3,4,9\n"), parsed(t, "a,c\n9,8\n1,2\n")
	b.LeftOut = []Column{{Name: "b", Kind: Constant, LeftOut: "constant"}, {Name: "d", Kind: Empty, LeftOut: "empty"}}
	a.LeftOut = b.LeftOut[1:]
	first, second, leftOut, err := SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, first.Names)
	require.Equal(t, []string{"a", "c"}, second.Names)
	require.Equal(t, []Column{{Name: "b", Kind: Constant, LeftOut: "constant in B.csv"}}, leftOut)
	require.Equal(t, "constant", b.LeftOut[0].LeftOut)
}

func TestNeverTogether(t *testing.T) {
	table := &Table{Names: []string{"a", "b", "c", "d"}, N: 3, D: 4, Values: make([]float64, 12), Observed: []bool{
		true, true, false, false,
		false, true, true, false,
		true, false, false, false,
	}}
	require.Equal(t, [][2]int{{0, 2}, {0, 3}, {1, 3}, {2, 3}}, table.NeverTogether()) // column d is never observed
	require.Equal(t, []int{1, 0, 0, 1, 0, 0}, table.PairCounts())
	table.Observed[11] = true
	require.Equal(t, [][2]int{{0, 2}, {1, 3}, {2, 3}}, table.NeverTogether())
	for i := range table.Observed {
		table.Observed[i] = true
	}
	require.Empty(t, table.NeverTogether())
}

func TestPairSums(t *testing.T) {
	const n, d = 1300, 3 // more rows than one product takes
	rng := stream.New(2)
	table := &Table{N: n, D: d}
	for i := range n {
		for range d {
			table.Values, table.Observed = append(table.Values, rng.NormFloat64()), append(table.Observed, i < 700 || rng.Float64() < 0.7)
		}
	}
	var weights []float64
	for i := range n {
		weights = append(weights, float64(i%4)/3)
	}
	for name, weigh := range map[string]func(){
		"once":     func() {},
		"counted":  func() { table.Counted = &Counted{Counts: weights} },
		"weighted": func() { table.Weights = weights },
	} {
		table.Counted, table.Weights = nil, nil
		weigh()
		got := table.PairSums()
		for j := range d {
			for k := range d {
				var cross, number float64
				for i := range n {
					if table.Observed[i*d+j] && table.Observed[i*d+k] {
						cross += table.Weight(i) * table.Values[i*d+j] * table.Values[i*d+k]
						number += table.Weight(i)
					}
				}
				require.InDelta(t, cross, got.Cross[j*d+k], 1e-10, name)
				require.InDelta(t, number, got.Number[j*d+k], 1e-10, name)
			}
		}
	}
}

func TestEachColumn(t *testing.T) {
	table := &Table{N: 50, D: 9}
	for k := range 50 * 9 {
		table.Values, table.Observed = append(table.Values, float64(k)), append(table.Observed, k%7 != 2)
	}
	for _, workers := range []int{1, 2, 20} {
		var got [9][]float64
		require.NoError(t, EachColumn(table, workers, func() func(int, []float64) {
			return func(j int, values []float64) { got[j] = append(got[j], values...) }
		}))
		for j, values := range got {
			require.Equal(t, table.Column(j), values)
		}
	}
	require.ErrorContains(t, EachColumn(table, 1, func() func(int, []float64) { return func(int, []float64) { panic("at once") } }), "at once")
}

func parsed(t *testing.T, text string) *Table {
	table, err := ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{})
	require.NoError(t, err)
	return table
}

func TestRows(t *testing.T) {
	table := parsed(t, "a,b\n1,2\n3,\n,6\n7,8\n")
	some, err := table.Rows([]int{3, 1, 2, 3})
	require.NoError(t, err)
	require.Equal(t, []float64{7, 8, 3, 0, 0, 6, 7, 8}, some.Values)
	require.Equal(t, []bool{true, true, true, false, false, true, true, true}, some.Observed)
	require.Equal(t, []int{5, 3, 4, 5}, some.Lines)
	_, err = table.Rows([]int{4})
	require.ErrorContains(t, err, "no row 5 among 4")
	_, err = table.Rows([]int{0, 0})
	require.ErrorContains(t, err, "constant")
}

func TestStacked(t *testing.T) {
	a, b := parsed(t, "a,b\n1,2\n3,\n"+"5,9\n"), parsed(t, "a,b\n,4\n5,6\n2,1\n")
	both, err := Stack(a, b)
	require.NoError(t, err)
	require.Equal(t, 6, both.N)
	require.Equal(t, []float64{1, 2, 3, 0, 5, 9, 0, 4, 5, 6, 2, 1}, both.Values)
	require.Equal(t, 2, both.Missing())
	require.Nil(t, both.Lines)
	_, err = Stack(a, parsed(t, "b,a\n1,4\n5,6\n"))
	require.ErrorContains(t, err, "cannot be stacked")
}
