package calibration

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/trainers/calibration"
)

// results have the same counts for all cases but the first.
func results(first, others []int) cells.Results {
	r := cells.Results{Columns: []string{commandColumn, modelColumn, "replicate", "method", ranksColumn}}
	for i, c := range all() {
		counts := others
		if i == 0 {
			counts = first
		}
		for _, replicate := range []string{"1", "2"} {
			r.Lines = append(r.Lines, []string{c.Command, c.Model, replicate, c.Way(), strings.Trim(fmt.Sprint(counts), "[]")})
		}
	}
	return r
}

func level20(of func(k int) int) (counts []int) {
	for k := range calibration.Draws + 1 {
		counts = append(counts, of(k))
	}
	return counts
}

// By hand: 20 counts of 10 are uniform; with 4 more at each of the five ranks of both ends, and
// 4 less between, twice, χ² is 20 · 8²/20 = 64 with 19 degrees of freedom (R: pchisq(64, 19, lower = FALSE) is 8.868e-07) and the contrast
// 2 · 10 · 4 · 2/√400 = 8.
func TestTablesAndClaim(t *testing.T) {
	flat := level20(func(int) int { return 10 })
	narrow := level20(func(k int) int {
		if k < 5 || k >= 15 {
			return 14
		}
		return 6
	})
	made, err := tables([]byte(`{"rows": 200}`), results(narrow, flat))
	require.NoError(t, err)
	require.Len(t, made[0].Lines, len(calibration.Cases))
	require.Len(t, made[1].Lines, len(all())-len(calibration.Cases))
	require.Equal(t, []string{"source", "gaussian", "proposal by weights, r = 10", "400", "1", "+0.0", "+0.0", "50.0"}, made[1].Lines[0][1:])
	require.InDelta(t, 0.7, outside(narrow), 1e-12)
	require.Equal(t, []string{"impute", "gaussian", "exact", "400", "8.9e-07", "+8.0", "+0.0"}, made[0].Lines[0])
	require.Equal(t, "1", made[0].Lines[1][4])
	for replicates, want := range map[int]claims.Outcome{1: claims.Undecided, claims.LeastReplicates: claims.Holds} {
		v, err := uniform(repeated(results(flat, flat), replicates), calibration.Cases)
		require.NoError(t, err)
		require.Equal(t, want, v.Outcome)
	}
	v, err := uniform(repeated(results(narrow, flat), claims.LeastReplicates), calibration.Cases)
	require.NoError(t, err)
	require.Equal(t, claims.DoesNotHold, v.Outcome)
	require.Contains(t, v.Evidence, "impute, gaussian, exact")
	v, err = uniform(repeated(results(narrow, flat), claims.LeastReplicates), largest())
	require.NoError(t, err)
	require.Equal(t, claims.Holds, v.Outcome)
	require.Len(t, largest(), len(calibration.Approximations))
	some := results(flat, flat)
	some.Lines = some.Lines[:6]
	v, err = uniform(some, calibration.Cases)
	require.NoError(t, err)
	require.Equal(t, claims.Undecided, v.Outcome)
	some.Lines[0][4] = "1 2"
	_, err = uniform(some, calibration.Cases)
	require.ErrorContains(t, err, "a line counts 2 ranks, not 20")
	ends, low := slopes(level20(func(k int) int { return 20 - k/10*20 })) // all in the lower half
	require.InDelta(t, 0, ends, 1e-12)
	require.InDelta(t, math.Sqrt(200), low, 1e-12)
}

// repeated are the lines of so many times as many replicates.
func repeated(r cells.Results, times int) cells.Results {
	r.Lines = slices.Repeat(r.Lines, times)
	return r
}

func TestRankPlots(t *testing.T) {
	flat := level20(func(int) int { return 10 })
	pictures, err := draw([]byte(`{"rows": 200}`), results(flat, flat))
	require.NoError(t, err)
	require.Len(t, pictures, 8)
}
