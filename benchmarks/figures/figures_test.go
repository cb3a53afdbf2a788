package figures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
)

func TestAlong(t *testing.T) {
	r := cells.Results{Columns: []string{"rows", "replicate", "method", "error"}, Lines: [][]string{
		{"10", "1", "a", "3 1"}, {"10", "1", "b", "4 2"}, {"20", "1", "a", "3 5"}, {"10", "2", "a", "3 -"}, {"20", "2", "a", "3 6"},
	}}
	x, series, err := figures.Along(r, claims.Measure{Column: "error", Along: "rows"}, []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, []float64{10, 20}, x)
	require.Equal(t, []figures.Series{{Name: "a", Values: [][]float64{{1}, {5, 6}}}, {Name: "b", Values: [][]float64{{2}, nil}}}, series)
	p, err := figures.Bands("Title", "rows", "error", x, series)
	require.NoError(t, err)
	require.Less(t, p.X.Min, 10.5)
}

func TestStopped(t *testing.T) {
	require.Empty(t, figures.Stopped([]figures.Series{{Name: "iw"}}))
	require.Equal(t, " Diverged before the end: Marg-IW 1 of 2; drawn as far as all replicates went.",
		figures.Stopped([]figures.Series{{Name: "iw", Values: [][]float64{{1, 2}}, Failed: 1}}))
}
