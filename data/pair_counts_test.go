package data

import (
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
	require.Equal(t, [][2]int{{0, 2}, {0, 3}, {1, 3}, {2, 3}}, table.NeverTogether()) // column d is never observed at all
	require.Equal(t, []int{1, 0, 0, 1, 0, 0}, table.PairCounts())
	table.Observed[11] = true
	require.Equal(t, [][2]int{{0, 2}, {1, 3}, {2, 3}}, table.NeverTogether())
	for i := range table.Observed {
		table.Observed[i] = true
	}
	require.Empty(t, table.NeverTogether())
}

// Pairs by a bit for each row are those that counts of rows have none of, beyond one word's rows.
func TestNeverTogetherIsWhatIsCounted(t *testing.T) {
	rng := stream.New(1, 1)
	const n, d = 200, 40
	table := &Table{N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
	for at := range table.Observed {
		table.Observed[at] = rng.Float64() < 0.1
	}
	var want [][2]int
	i := 0
	counts := table.PairCounts()
	for j := range d {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			if counts[i] == 0 {
				want = append(want, [2]int{j, k})
			}
		}
	}
	require.Greater(t, len(want), 20)
	require.Less(t, len(want), d*(d-1)/4)
	require.Equal(t, want, table.NeverTogether())
}
