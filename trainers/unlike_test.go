package trainers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
	"missingscore/trainers/mixed"
)

// Drawn rows with the table's means and without its correlation, or with another deviation, are unlike it.
func TestUnlikeInSecondMoments(t *testing.T) {
	table, rng := &data.Table{Names: []string{"x", "y"}, N: 500, D: 2}, stream.New(1)
	for range table.N {
		x := rng.NormFloat64()
		table.Values = append(table.Values, x, 0.8*x+0.6*rng.NormFloat64())
		table.Observed = append(table.Observed, true, true)
	}
	m := model.NewMixed(1, []int{0, 0})
	saved := &fitted.Saved{Model: m}
	m.Covariances[0] = []float64{1, 0.8, 0.8, 1}
	unlike := func() string {
		_, err := checkOnce(t.Context(), saved, table, new(*model.Mixed), mixed.Config{Seed: 1})
		require.NoError(t, err)
		return strings.Join(saved.Check.Off, "; ")
	}
	require.Empty(t, unlike())
	m.Covariances[0] = []float64{1, 0, 0, 1}
	require.Contains(t, unlike(), "the covariance (standardised) of x and y is 0.")
	m.Covariances[0] = []float64{1, 1.2, 1.2, 2.25}
	require.Contains(t, unlike(), "the standard deviation of y is 1.03, drawn 1.5")
}
