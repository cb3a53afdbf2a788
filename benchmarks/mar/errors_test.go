package mar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

// x → y → z of correlations 0.8 and 0.5, so that x and z are 0.4 correlated: partial correlations
// (0.8 − 0.4·0.5)/√((1 − 0.16)(1 − 0.25)), 0 and (0.5 − 0.8·0.4)/√((1 − 0.64)(1 − 0.16)).
func TestWithErrors(t *testing.T) {
	r := cells.Results{Columns: []string{designColumn, "replicate", "method", partialColumn}, Lines: [][]string{
		{"hidden where low", "1", "exact", "0.755929 0.3 0.327327"},
		{"hidden where low", "1", "EM", "-"},
	}}
	got, err := WithErrors(r)
	require.NoError(t, err)
	require.Equal(t, []string{designColumn, "replicate", "method", partialColumn, ErrorColumn}, got.Columns)
	require.Equal(t, "0.173205", got.Lines[0][4], "√(0.09/3)")
	require.Equal(t, "-", got.Lines[1][4])
	require.Len(t, r.Lines[0], 4, "the results are left as they are")
	r.Lines[0][3] = "0.7 0.3"
	_, err = WithErrors(r)
	require.EqualError(t, err, "column partial_correlations: 2 numbers for 3 pairs")
	r.Lines[0][0] = "another"
	_, err = WithErrors(r)
	require.EqualError(t, err, `there is no design "another"`)
}
