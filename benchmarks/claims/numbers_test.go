package claims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// b lacks the second replicate, c has none, and d is not asked for.
func TestTogether(t *testing.T) {
	r := cells.Results{Columns: []string{"replicate", "method", "x"}, Lines: [][]string{
		{"1", "a", "1"}, {"1", "b", "2"}, {"1", "c", "-"}, {"2", "a", "3"}, {"2", "b", "-"}, {"3", "a", "5"}, {"3", "b", "6"}, {"4", "d", "7"},
	}}
	n, err := claims.Measure{Column: "x"}.Read(r)
	require.NoError(t, err)
	require.Equal(t, map[string][]float64{"a": {1, 5}, "b": {2, 6}}, n.Together("", []string{"a", "b", "c"}))
}
