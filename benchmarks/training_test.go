package benchmarks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks"
	"missingscore/trainers"
)

func TestTraceAndCollect(t *testing.T) {
	require.Equal(t, []int{1, 2, 3, 4}, benchmarks.Epochs(4))
	at := []int{1, 2, 4}
	history := func(values ...float64) (h []trainers.Record) {
		for _, v := range values {
			h = append(h, trainers.Record{Errors: []trainers.Error{{Name: "x", Value: v}}})
		}
		return h
	}
	a, b := benchmarks.Trace(history(3, 1, 5, 2), at, "x"), benchmarks.Trace(history(5, 3), at, "x")
	require.Equal(t, "3 1 2", a)
	require.Equal(t, "5 3 -", b)
	records := [][]string{{"m", a}, {"m", b}, {"other", a}}
	s, err := benchmarks.Collect("m", records, at, 1, func(r []string) bool { return r[0] == "m" })
	require.NoError(t, err)
	require.Equal(t, [][]float64{{3, 5}, {1, 3}, {2}}, s.Values)
	require.Equal(t, 1, s.Failed)
	require.Equal(t, 1, s.Best())
	require.Equal(t, "4 ± 13", s.At(0)) // t(1) = 12.7, standard error 1
	require.Equal(t, "–", s.At(2))
	var out strings.Builder
	benchmarks.Markdown(&out, at, benchmarks.Shown(at, 2), []benchmarks.Series{s})
	require.Contains(t, out.String(), "| m | 2 ± 13 | – | 2 ± 13 (2) | 1 of 2 |")
}
