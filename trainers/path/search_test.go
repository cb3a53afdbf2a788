package path

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// looked searches among the scores and gives the best and those looked at.
func looked(t *testing.T, scores []float64) (best int, seen map[int]bool) {
	t.Helper()
	var all []int
	for i := range scores {
		all = append(all, i)
	}
	seen = map[int]bool{}
	best, err := search(func(int) ([]int, error) { return all, nil }, func(points []int) error {
		for _, p := range points {
			seen[p] = true
		}
		return nil
	}, func(p int) float64 { return scores[p] })
	require.NoError(t, err)
	return best, seen
}

// What costs far more than it explains is not refitted, nor what is denser; a path without a
// decisive rise is searched until four networks are not better.
func TestSearchEndsWhereScoresRise(t *testing.T) {
	valley := func(n int, at, rise float64) (scores []float64) {
		for i := range n {
			scores = append(scores, 1000+rise*math.Abs(float64(i)-at))
		}
		return scores
	}
	best, seen := looked(t, valley(60, 8, 100))
	require.Equal(t, 8, best)
	require.True(t, seen[12])
	require.False(t, seen[16], "12 is halfway back up")
	best, seen = looked(t, valley(60, 9, 0.5)) // no network is worse than the best by autoMargin
	require.Equal(t, 9, best)
	require.True(t, seen[24])
	require.False(t, seen[32], "five in a row after 8")
	late := valley(60, 37, 1)
	for i := range 37 {
		late[i] = late[0] + 0.1*float64(i) // rises first
	}
	best, seen = looked(t, late)
	require.Zero(t, best)
	require.True(t, seen[20])
	require.False(t, seen[24], "five in a row after 0")
	late[16], late[28] = late[0]-0.5, late[0]-1
	best, _ = looked(t, late)
	require.Equal(t, 37, best)
	best, _ = looked(t, valley(6, 5, 100))
	require.Equal(t, 5, best)
	unknown := valley(20, 6, 100)
	unknown[0] = math.NaN()
	best, _ = looked(t, unknown)
	require.Equal(t, 6, best)
}
