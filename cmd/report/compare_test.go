package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/compare"
)

func TestDiffering(t *testing.T) {
	nan := math.NaN()
	c := Comparison{Result: &compare.Result{Pairs: []compare.Difference{
		{From: "a", To: "b", Value: 0.1, P: 0.5, Q: 0.6},
		{From: "a", To: "c", Value: -0.4, P: 0.01, Q: 0.06},
		{From: "a", To: "d", Value: 0.5, P: 0.01, Q: 0.06},
		{From: "b", To: "c", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: 0.01}},
		{From: "b", To: "d", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: nan}},
	}}}
	var got []string
	for _, d := range c.Differing() {
		got = append(got, d.From+d.To)
	}
	require.Equal(t, []string{"bc", "ad", "ac"}, got, "by q, then p, then size")
	require.Len(t, c.Ranked(), 5)
	shown := differences(c.Result.Pairs, map[string]string{"d": "Delta"})
	require.Len(t, shown, 5)
	require.Equal(t, [2]string{"a", "Delta"}, [2]string{shown[0].From, shown[0].To})
	require.Equal(t, 0.5, shown[0].Uncertainty.Estimate)
	require.Equal(t, -0.4, shown[4].Uncertainty.Estimate)
}
