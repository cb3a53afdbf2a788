package training_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/training"
	"missingscore/trainers/descent"
	"missingscore/trainers/evaluate"
)

func TestTraceAndTraining(t *testing.T) {
	require.Equal(t, []int{1, 2, 3, 4}, training.Epochs(4))
	at := []int{1, 2, 4}
	history := func(values ...float64) (h []descent.Record) {
		for _, v := range values {
			h = append(h, descent.Record{Errors: []evaluate.Error{{Name: "x", Value: v}}})
		}
		return h
	}
	a, b := training.Trace(history(3, 1, 5, 2), at, "x"), training.Trace(history(5, 3), at, "x")
	require.Equal(t, "3 1 2", a)
	require.Equal(t, "5 3 -", b)
	r := cells.Results{Columns: []string{"replicate", "method", "error"}, Lines: [][]string{{"1", "m", a}, {"2", "m", b}, {"1", "other", a}}}
	all, err := figures.AlongTraining(r, claims.Measure{Column: "error"}, []string{"m"})
	require.NoError(t, err)
	s := all[0]
	require.Equal(t, [][]float64{{3, 5}, {1, 3}, {2}}, s.Values)
	require.Equal(t, 1, s.Failed)
	p, err := figures.Bands("Title", "epoch", "error", []float64{1, 2, 4}, all)
	require.NoError(t, err)
	require.Less(t, p.X.Min, 1.5)
	_, err = figures.AlongTraining(r, claims.Measure{Column: "errors"}, []string{"m"})
	require.ErrorContains(t, err, `there is no column "errors" among replicate, method, error`)
}
