package frontier

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/reproduce"
)

// planted are results of a situation: the value of a method at a place of a replicate.
func planted(replicates int, value func(method string, place, replicate int) float64) cells.Results {
	r := cells.Results{Columns: []string{"table", "replicate", "method", "score"}}
	for replicate := 1; replicate <= replicates; replicate++ {
		for place := range 3 {
			for _, m := range []string{"a", "b", "c", "other"} {
				text := "-"
				if x := value(m, place, replicate); !math.IsNaN(x) {
					text = strconv.FormatFloat(x, 'g', -1, 64)
				}
				r.Lines = append(r.Lines, []string{fmt.Sprint(place), fmt.Sprint(replicate), m, "7 " + text})
			}
		}
	}
	return r
}

func TestStandings(t *testing.T) {
	s := situation{column: "score", methods: []string{"a", "b", "c"}}
	own := func(m string, place, replicate int) float64 { // noise of a method's own
		return 0.02 * math.Sin(float64(7*replicate+3*place)*float64(m[0]))
	}
	larger := planted(8, func(m string, place, replicate int) float64 {
		return map[string]float64{"a": 0.8, "b": 0.7, "c": 0.799, "other": 2}[m] + 0.1*float64(place) + 0.3*math.Sin(float64(replicate)) + own(m, place, replicate)
	})
	list, replicates, err := s.standings(larger)
	require.NoError(t, err)
	require.Equal(t, 8, replicates)
	require.Equal(t, []string{"a", "c", "b"}, []string{list[0].method, list[1].method, list[2].method})
	require.True(t, list[0].level)
	require.True(t, list[1].level)
	require.False(t, list[2].level)
	require.InDelta(t, 0.1, list[2].behind, 0.01, "what replicates and places share does not count")
	require.Less(t, list[2].top-list[2].low, 0.05)

	// Errors: factors, and the smallest is the best.
	s.smaller = true
	errors := planted(8, func(m string, place, replicate int) float64 {
		return map[string]float64{"a": 3, "b": 1, "c": 2, "other": 0.1}[m] * float64(place+1) * math.Exp(own(m, place, replicate))
	})
	list, _, err = s.standings(errors)
	require.NoError(t, err)
	require.Equal(t, "b", list[0].method)
	require.InDelta(t, math.Cbrt(6), list[0].value, 0.05, "the geometric mean")
	require.InDelta(t, 2, list[1].behind, 0.05)
	require.InDelta(t, 3, list[2].behind, 0.05)

	// One place; what a method lacks is left out; fewer than four replicates say nothing.
	s.where = map[string][]string{"table": {"1"}}
	list, _, err = s.standings(errors)
	require.NoError(t, err)
	require.InDelta(t, 2, list[0].value, 0.1)
	few := planted(8, func(m string, place, replicate int) float64 {
		if m == "c" && replicate > 3 {
			return math.NaN()
		}
		return 1 + own(m, place, replicate)
	})
	list, replicates, err = s.standings(few)
	require.NoError(t, err)
	require.Nil(t, list)
	require.Equal(t, 3, replicates)
	s.column = "score of another name"
	_, _, err = s.standings(few)
	require.ErrorContains(t, err, `there is no column "score of another name"`)
}

// Each situation is of an experiment that there is, with its columns, values and methods.
func TestSituationsAreOfExperiments(t *testing.T) {
	found, err := Standings("../results", reproduce.Experiments)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	tables, err := Tables("../results", reproduce.Experiments)
	require.NoError(t, err)
	require.Len(t, tables, 4)
	require.Equal(t, len(situations)+len(parts), len(found), "every situation has been run")
	require.Len(t, tables[0].Lines, len(situations))
	require.Len(t, tables[1].Lines, len(situations))
	require.Len(t, tables[2].Lines, len(parts))
	require.Len(t, tables[3].Lines, len(parts))
	for _, f := range found {
		require.Len(t, f.list, len(f.methods), f.words)
		for _, s := range f.list {
			require.False(t, math.IsNaN(s.value), "%s: %s", f.words, s.method)
		}
	}
	all, err := Figures("../results", reproduce.Experiments)
	require.NoError(t, err)
	for _, f := range found {
		drawn := 0
		for _, s := range subjects {
			if slices.Contains(s.experiments, f.experiment) {
				require.Contains(t, all[s.name], f.words)
				drawn++
			}
		}
		require.Equal(t, 1, drawn, f.experiment)
	}
	require.Contains(t, all["imputation"], "impute TABLE")
}
