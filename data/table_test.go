package data_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func TestNewTable(t *testing.T) {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 4}, nil)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 2}, []int{table.N, table.D})
	assert.Equal(t, []bool{true, true, true, true}, table.Observed)
	assert.True(t, table.Complete())
	assert.Zero(t, table.Missing())

	table, err = data.NewTable([]string{"a", "b"}, []float64{1, math.NaN(), 3, 4, 5, 6, math.Inf(1), 0}, []bool{true, false, true, true, true, true, false, false})
	require.NoError(t, err, "what stands under a missing cell is free, and a row may be empty")
	assert.Equal(t, 3, table.Missing())
	assert.False(t, table.Complete())
	assert.Equal(t, 4, table.N)
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
		table, err := data.NewTable(c.names, c.values, c.observed)
		assert.EqualError(t, err, c.message, name)
		assert.Nil(t, table, name)
	}
}

func TestSelect(t *testing.T) {
	table := parse(t, "a,b,c\n1,2,\n4,,6\n7,8,9\n")
	table.Values[2] = math.NaN()
	table.Dropped = 3
	s, err := table.Select([]string{"c", "a"})
	require.NoError(t, err)
	assert.Equal(t, &data.Table{
		Names: []string{"c", "a"}, N: 3, D: 2, Dropped: 3, Lines: []int{2, 3, 4},
		Values:   []float64{0, 1, 6, 4, 9, 7},
		Observed: []bool{false, true, true, true, true, true},
	}, s)

	s.Values[1] = 100
	assert.Equal(t, 1.0, table.Values[0], "a copy")

	_, err = table.Select([]string{"a", "z"})
	assert.EqualError(t, err, `no column "z"; there are: a, b, c`)
	_, err = table.Select([]string{"a", "a"})
	assert.EqualError(t, err, `two columns are named "a"`)
	_, err = table.Select(nil)
	assert.EqualError(t, err, `a table needs at least one column`)
}

func TestSelectListsNamesAsFlagsTakeThem(t *testing.T) {
	table := &data.Table{Names: []string{"dose, mg", "b"}, N: 1, D: 2, Values: []float64{1, 2}, Observed: []bool{true, true}}
	_, err := table.Select([]string{"dose"})
	require.ErrorContains(t, err, `there are: '"dose, mg"', b`)
}

func TestCheckTable(t *testing.T) {
	literal := func(change func(*data.Table)) *data.Table {
		l := &data.Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{1, 2, 3, 4}, Observed: []bool{true, true, true, false}}
		change(l)
		return l
	}
	require.NoError(t, data.CheckTable(literal(func(*data.Table) {})))
	require.NoError(t, data.CheckTable(literal(func(l *data.Table) { l.Values[3] = math.NaN() })), "nothing reads a missing cell")
	for want, l := range map[string]*data.Table{
		"the table is nil": nil,
		"4 values, but 0 observed marks: data.NewTable makes them": literal(func(l *data.Table) { l.Observed = nil }),
		`row 2: column "a": NaN must be finite`:                    literal(func(l *data.Table) { l.Values[2] = math.NaN() }),
		`column "b": it has no value`:                              literal(func(l *data.Table) { l.Observed[1] = false }),
		"2 names for 3 columns":                                    literal(func(l *data.Table) { l.D = 3 }),
		"4 values: 3 rows of 2 columns need 6":                     literal(func(l *data.Table) { l.N = 3 }),
	} {
		require.ErrorContains(t, data.CheckTable(l), want)
	}
	_, err := data.HideMCAR(literal(func(*data.Table) {}), 0.1, nil)
	require.ErrorContains(t, err, "rng is nil")
}
