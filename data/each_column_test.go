package data

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the number of workers and of columns, each column is visited once with its values.
func TestEachColumn(t *testing.T) {
	for _, d := range []int{1, 3, 4, 9} {
		table := &Table{N: 50, D: d}
		for k := range 50 * d {
			table.Values, table.Observed = append(table.Values, float64(k)), append(table.Observed, k%7 != 2)
		}
		for _, workers := range []int{1, 2, 20} {
			var mu sync.Mutex
			got := map[int][]float64{}
			require.NoError(t, EachColumn(table, workers, func() func(int, []float64) {
				return func(j int, values []float64) {
					mu.Lock()
					defer mu.Unlock()
					require.NotContains(t, got, j)
					got[j] = slices.Clone(values)
				}
			}))
			require.Len(t, got, d)
			for j, values := range got {
				require.Equal(t, table.Column(j), values, fmt.Sprint(d, workers, j))
			}
		}
	}
	table := &Table{N: 1, D: 1, Values: []float64{1}, Observed: []bool{true}}
	require.ErrorContains(t, EachColumn(table, 1, func() func(int, []float64) { return func(int, []float64) { panic("at once") } }), "at once")
}
