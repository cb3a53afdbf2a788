package data

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewTable(t *testing.T) {
	table, err := NewTable([]string{"a", "b"}, []float64{1, 2, 3, 4}, nil)
	require.NoError(t, err)
	require.Equal(t, "a, b / 1 2 / 3 4", shown(table))
	require.True(t, table.Complete())

	values := []float64{1, math.NaN(), 3, 4, 5, 6, math.Inf(1), 0}
	table, err = NewTable([]string{"a", "b"}, values, []bool{true, false, true, true, true, true, false, false})
	require.NoError(t, err, "the value of a missing cell does not matter, and a row may be empty")
	require.Equal(t, "a, b / 1 . / 3 4 / 5 6 / . .", shown(table))
	require.Equal(t, 3, table.Missing())
	require.False(t, table.Complete())
}

func TestNewTableRefuses(t *testing.T) {
	ab := []string{"a", "b"}
	cases := map[string]struct {
		names    []string
		values   []float64
		observed []bool
		message  string
	}{
		"no columns":     {nil, nil, nil, `a table needs at least one column`},
		"no name":        {[]string{"a", ""}, []float64{1, 2, 3, 4}, nil, `column 2 has no name`},
		"equal names":    {[]string{"a", "a"}, []float64{1, 2, 3, 4}, nil, `two columns are named "a"`},
		"control":        {[]string{"a", "b\n"}, []float64{1, 2, 3, 4}, nil, `column 2: the name "b\n" holds a control character`},
		"byte order":     {[]string{"\ufeffa"}, []float64{1, 2}, nil, `column 1: the name "\ufeffa" holds a control character`},
		"odd length":     {ab, []float64{1, 2, 3}, nil, `3 values do not fill rows of 2 columns`},
		"other mask":     {ab, []float64{1, 2, 3, 4}, []bool{true}, `4 values, but 1 observed marks`},
		"no rows":        {ab, nil, nil, `no row has a value; at least 2 are needed`},
		"one row":        {ab, []float64{1, 2}, nil, `only 1 row has a value; at least 2 are needed`},
		"one usable row": {ab, []float64{1, 2, 3, 4}, []bool{true, true, false, false}, `only 1 row has a value; at least 2 are needed`},
		"NaN":            {ab, []float64{1, 2, 3, math.NaN()}, nil, `row 2: column "b": NaN must be finite, with size up to 1e+150`},
		"infinite":       {ab, []float64{1, 2, math.Inf(-1), 4}, nil, `row 2: column "a": -Inf must be finite, with size up to 1e+150`},
		"too large":      {ab, []float64{1, 2, 3, -1.1e150}, nil, `row 2: column "b": -1.1e+150 must be finite, with size up to 1e+150`},
		"no value":       {ab, []float64{1, 2, 3, 4}, []bool{true, false, true, false}, `column "b": no observed value`},
		"constant":       {ab, []float64{1, 7, 3, 7, 3, 8}, []bool{true, true, true, true, true, false}, `column "b": constant, every observed value is 7`},
		"hardly varies":  {ab, []float64{1, 0, 3, 1e-151}, nil, `column "b": its values vary too little (standard deviation 5e-152, less than 1e-150): rescale it`},
	}
	for name, c := range cases {
		table, err := NewTable(c.names, c.values, c.observed)
		require.EqualError(t, err, c.message, name)
		require.Nil(t, table, name)
	}
}

func TestSelect(t *testing.T) {
	table := parsed(t, "a,b,\"dose, mg\"\n1,2,\n4,,6\n7,8,9\n")
	table.Values[2], table.Dropped = math.NaN(), 3
	s, err := table.Select([]string{"dose, mg", "a"})
	require.NoError(t, err)
	require.Equal(t, "dose, mg, a / . 1 / 6 4 / 9 7; dropped 3", shown(s))
	require.Zero(t, s.Values[0])
	require.Equal(t, table.Lines, s.Lines)
	s.Values[1] = 100
	require.Equal(t, 1.0, table.Values[0], "a copy")

	_, err = table.Select([]string{"z"})
	require.EqualError(t, err, `no column "z"; there are: a, b, '"dose, mg"'`, "as a flag takes them")
	_, err = table.Select([]string{"a", "a"})
	require.EqualError(t, err, `two columns are named "a"`)
	_, err = table.Select(nil)
	require.EqualError(t, err, `a table needs at least one column`)
}

func TestCheckTable(t *testing.T) {
	literal := func(change func(*Table)) *Table {
		l := &Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{1, 2, 3, 4}, Observed: []bool{true, true, true, false}}
		change(l)
		return l
	}
	require.NoError(t, CheckTable(literal(func(*Table) {})))
	require.NoError(t, CheckTable(literal(func(l *Table) { l.Values[3] = math.NaN() })), "nothing reads a missing cell")
	for want, l := range map[string]*Table{
		"the table is nil": nil,
		"4 values, but 0 observed marks: data.NewTable makes them": literal(func(l *Table) { l.Observed = nil }),
		`row 2: column "a": NaN must be finite`:                    literal(func(l *Table) { l.Values[2] = math.NaN() }),
		`column "b": it has no value`:                              literal(func(l *Table) { l.Observed[1] = false }),
		"2 names for 3 columns":                                    literal(func(l *Table) { l.D = 3 }),
		"4 values: 3 rows of 2 columns need 6":                     literal(func(l *Table) { l.N = 3 }),
	} {
		require.ErrorContains(t, CheckTable(l), want)
	}
	_, err := HideMCAR(literal(func(*Table) {}), 0.1, nil)
	require.ErrorContains(t, err, "rng is nil")
}

func TestCells(t *testing.T) {
	in := file(t, "in.csv", "name;b;a\n\"x; y\";1.50;\n\nz;NA;3e0\n;;\n")
	c, err := ReadCells(in, ReadOptions{Columns: []string{"a", "b"}, Comma: ';'})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, c.Columns)
	require.Equal(t, []float64{0, 1.5, 3, 0, 0, 0}, c.Table.Values)
	require.Equal(t, []bool{false, true, true, false, false, false}, c.Table.Observed)
	require.Equal(t, []int{2, 4, 5}, c.Table.Lines)
	require.Equal(t, "name;b;a\n\"x; y\";1.50;7\nz;8.25;3e0\nNA;-2;-1\n",
		completed(t, c, []float64{7, 99, 99, 8.25, -1, -2}, 1))
	require.Equal(t, ".imp;.id;name;b;a\n0;1;\"x; y\";1.50;NA\n0;2;z;NA;3e0\n0;3;NA;NA;NA\n"+
		"1;1;\"x; y\";1.50;7\n1;2;z;8.25;3e0\n1;3;NA;-2;-1\n2;1;\"x; y\";1.50;17\n2;2;z;18.25;3e0\n2;3;NA;-12;-11\n",
		completed(t, c, []float64{7, 99, 17, 99, 99, 8.25, 99, 18.25, -1, -2, -11, -12}, 2))

	for columns, message := range map[string]string{"c": `in.csv:1: no column "c", which the model needs; there are: name, b, a`, "name": `in.csv:2: column "name": "x; y" is not a number`} {
		_, err := ReadCells(in, ReadOptions{Columns: []string{columns}, Comma: ';'})
		require.ErrorContains(t, err, message)
	}
}

// Rows of weight 0 and rows without a value are left out.
func TestReadWeighted(t *testing.T) {
	path := file(t, "w.csv", "a,w,b\n1,2,3\n2,0,5\n,1,\n4,4,NA\n5,6,1\n")
	for _, o := range []ReadOptions{{}, {Columns: []string{"a", "b"}}, {Exclude: []string{"w"}}} {
		table, err := ReadWeighted(path, "w", o)
		require.NoError(t, err)
		require.Equal(t, "a, b / 1 3 / 4 . / 5 1; dropped 1", shown(table))
		require.InDeltaSlice(t, []float64{0.5, 1, 1.5}, table.Weights, 1e-15)
		require.InDelta(t, 144./56, table.EffectiveRows(), 1e-14)
		require.Equal(t, []int{2, 5, 6}, table.Lines)
	}
	equal, err := ReadWeighted(file(t, "e.csv", "a;w\n1;7\n2;7\n"), "w", ReadOptions{})
	require.NoError(t, err)
	require.Nil(t, equal.Weights)
	require.EqualValues(t, 2, equal.EffectiveRows())
	_, err = ReadWeighted(path, "w", ReadOptions{Columns: []string{"a", "w"}})
	var wrong *WeightsError
	require.ErrorAs(t, err, &wrong)
}
