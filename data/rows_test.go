package data

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

func TestReadGroups(t *testing.T) {
	path := file(t, "t.csv", "sex,a,b\nm,1,2\nf,3,4\nNA,0,0\nf,5,\nm,7,9\nx,1,1\nf,,1\nm,,\n")
	groups, ungrouped, err := ReadGroups(path, "sex", []string{"m", "f"}, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, ungrouped)
	require.Equal(t, "m", groups[0].Name)
	require.Equal(t, "a, b / 1 2 / 7 9; dropped 1", shown(groups[0].Table))
	require.Equal(t, "a, b / 3 4 / 5 . / . 1", shown(groups[1].Table))
	require.Equal(t, []int{3, 5, 8}, groups[1].Table.Lines)

	stages := ReadOptions{Kinds: map[string]Column{"stage": {Name: "stage", Kind: Ordered, Levels: []string{"low", "high"}}}}
	groups, _, err = ReadGroups(file(t, "t.csv", "stage,a\nlow,1\nhigh,3\nlow,5\nhigh,7\n"), "stage", nil, stages)
	require.NoError(t, err)
	require.Equal(t, "low", groups[0].Name, "the order of the levels")
	require.Equal(t, "a whole / 1 / 5", shown(groups[0].Table))

	one := file(t, "t.csv", "sex,a\nm,1\nm,2\n")
	few := file(t, "t.csv", "sex,a\nd,9\nm,1\nf,2\nm,4\nf,3\n")
	for _, c := range []struct {
		path   string
		by     string
		wanted []string
		o      ReadOptions
		want   string
	}{
		{path, "sex", nil, ReadOptions{}, `column "sex" has 3 groups: f (3 rows), m (3 rows), x (1 rows); pick two with ReadGroups f,m`},
		{few, "sex", nil, ReadOptions{}, "d (1 rows), f (2 rows), m (2 rows); pick two with ReadGroups f,m"},
		{path, "sex", []string{"m", "q"}, ReadOptions{}, `column "sex" has no group "q"; there are: f (3 rows)`},
		{path, "sex", []string{"m"}, ReadOptions{}, "two different groups are needed, but 1 are named: m"},
		{path, "sex", []string{"m", "m"}, ReadOptions{}, "two different groups"},
		{path, "age", nil, ReadOptions{}, `no column "age"`},
		{path, "sex", []string{"m", "f"}, ReadOptions{Columns: []string{"sex", "a"}}, "cannot be among the columns of the network"},
		{path, "sex", []string{"m", "x"}, ReadOptions{}, "(in the rows whose sex is x)"},
		{one, "sex", nil, ReadOptions{}, `only one group, m (2 rows)`},
	} {
		_, _, err := ReadGroups(c.path, c.by, c.wanted, c.o)
		require.ErrorContains(t, err, c.want)
		if c.path == one {
			var wrong *setting.Error
			require.ErrorAs(t, err, &wrong)
		}
	}
}

func TestSameColumns(t *testing.T) {
	a, b := parsed(t, "a,b,c\n1,2,3\n3,4,9\n"), parsed(t, "c,b,a\n9,8,7\n1,2,3\n")
	first, second, leftOut, err := SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	require.Empty(t, leftOut)
	require.Equal(t, shown(a), shown(first))
	require.Equal(t, "a, b, c / 7 8 9 / 3 2 1", shown(second))

	b = parsed(t, "a,c\n9,8\n1,2\n")
	b.LeftOut = []Column{{Name: "b", Kind: Constant, LeftOut: "constant"}, {Name: "d", Kind: Empty, LeftOut: "empty"}}
	a.LeftOut = b.LeftOut[1:]
	first, second, leftOut, err = SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", "c"}, {"a", "c"}}, [][]string{first.Names, second.Names})
	require.Equal(t, []Column{{Name: "b", Kind: Constant, LeftOut: "constant in B.csv"}}, leftOut)
	require.Equal(t, "constant", b.LeftOut[0].LeftOut)

	a.LeftOut = nil
	_, _, _, err = SameColumns(a, parsed(t, "d,b,a\n9,8,7\n1,2,3\n"), "A.csv", "B.csv")
	require.EqualError(t, err, "A.csv has no column d, and B.csv has no column c; "+
		"compare the common ones with ReadOptions.Columns a,b")
	_, _, _, err = SameColumns(a, parsed(t, "d\n9\n8\n"), "A.csv", "B.csv")
	require.ErrorContains(t, err, "no column is in both")
}

func TestSameLevels(t *testing.T) {
	coded := func(text string, kinds []Kind, levels ...[]string) *Table {
		table := parsed(t, text)
		table.Kinds, table.Levels = kinds, levels
		return table
	}
	bits := []string{"0", "1"}
	a := coded("e,s,x\n0,0,1\n1,1,2\n,0,1\n", []Kind{Nominal, Binary, Whole}, []string{"low", "high", "none"}, bits, nil)
	b := coded("x,s,e\n1.5,0,1\n2,2,0\n3,1,\n", []Kind{Number, Whole, Binary}, nil, nil, []string{"high", "middle"})
	first, second, _, err := SameColumns(a, b, "A.csv", "B.csv")
	require.NoError(t, err)
	const columns = "e nominal low|high|none|middle, s whole, x number"
	require.Equal(t, columns+" / 0 0 1 / 1 1 2 / . 0 1", shown(first))
	require.Equal(t, columns+" / 3 0 1.5 / 1 2 2 / . 1 3", shown(second))
	require.Equal(t, []float64{1.5, 0, 1, 2, 2, 0, 3, 1, 0}, b.Values, "the file's own table is as it was")
	both, err := Stack(first, second)
	require.NoError(t, err)
	require.Equal(t, shown(first)+strings.TrimPrefix(shown(second), columns), shown(both))

	numbers := coded("e,s,x\n4,0,1\n1,1,2\n", []Kind{Whole, Binary, Whole}, nil, bits, nil)
	_, _, _, err = SameColumns(a, numbers, "A.csv", "B.csv")
	require.EqualError(t, err, `column "e" has levels in A.csv and numbers in B.csv; leave it out with ReadOptions.Exclude e`)
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
	table.Observed = slices.Repeat([]bool{true}, 12)
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
		"weighted": func() { table.Counted, table.Weights = nil, weights },
	} {
		table.Counted, table.Weights = nil, nil
		weigh()
		var cross, number [d * d]float64
		for i := range n {
			for k := range d * d {
				if a, b := i*d+k/d, i*d+k%d; table.Observed[a] && table.Observed[b] {
					cross[k] += table.Weight(i) * table.Values[a] * table.Values[b]
					number[k] += table.Weight(i)
				}
			}
		}
		got := table.PairSums()
		require.InDeltaSlice(t, cross[:], got.Cross, 1e-10, name)
		require.InDeltaSlice(t, number[:], got.Number, 1e-10, name)
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

func TestRows(t *testing.T) {
	table := parsed(t, "a,b\n1,2\n3,\n,6\n7,8\n")
	some, err := table.Rows([]int{3, 1, 2, 3})
	require.NoError(t, err)
	require.Equal(t, "a, b / 7 8 / 3 . / . 6 / 7 8", shown(some))
	require.Equal(t, []int{5, 3, 4, 5}, some.Lines)
	_, err = table.Rows([]int{4})
	require.ErrorContains(t, err, "no row 5 among 4")
	_, err = table.Rows([]int{0, 0})
	require.ErrorContains(t, err, "constant")

	both, err := Stack(table, some)
	require.NoError(t, err)
	require.Equal(t, shown(table)+strings.TrimPrefix(shown(some), "a, b"), shown(both))
	require.Equal(t, 4, both.Missing())
	require.Nil(t, both.Lines)
	_, err = Stack(table, parsed(t, "b,a\n1,4\n5,6\n"))
	require.ErrorContains(t, err, "cannot be stacked")
}
