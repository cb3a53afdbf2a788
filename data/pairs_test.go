package data

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

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
