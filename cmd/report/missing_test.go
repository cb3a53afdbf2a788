package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/moments"
	"missingscore/internal/stream"
)

// The map of a table is that of its moments, whose few rows stand for many; moments of pairs of
// columns know no patterns.
func TestMissingMapOfMoments(t *testing.T) {
	rng := stream.New(3, 1)
	names := []string{"a", "b", "c"}
	var values []float64
	var observed []bool
	for range 300 {
		gap := rng.IntN(3)
		for j := range names {
			values = append(values, rng.NormFloat64())
			observed = append(observed, j != gap || rng.IntN(3) == 0)
		}
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	for _, pairs := range []bool{false, true} {
		m, err := moments.New(names, moments.Options{Pairs: pairs})
		require.NoError(t, err)
		require.NoError(t, m.Add(values, observed))
		few, err := m.Table()
		require.NoError(t, err)
		if pairs {
			require.Nil(t, newMissingMap(few, names))
			continue
		}
		require.Less(t, few.N, 20)
		require.Equal(t, newMissingMap(table, names), newMissingMap(few, names))
		total := 0
		for _, p := range patternsOf(few) {
			total += p.rows
		}
		require.Equal(t, 300, total)
	}
}
