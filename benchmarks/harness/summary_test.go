package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

// By hand: last errors 3 and 5, and a fit that diverged; the standard error of (3, 5) is 1.
func TestSummary(t *testing.T) {
	r := cells.Results{Columns: []string{"law", "d", "replicate", "method", "error", "version", "converged"}, Lines: [][]string{
		{"MCAR", "5", "1", "iw", "9 2 3", "R 4", "true"},
		{"MCAR", "5", "2", "iw", "9 4 5", "R 4", "false"},
		{"MCAR", "5", "3", "iw", "9 1 -", "R 4", "false"},
		{"MCAR", "5", "1", "em", "-", "R 4", "true"},
	}}
	require.Equal(t, [][]string{
		{"law=MCAR; d=5", "iw", "error", "4", "1", "2"},
		{"law=MCAR; d=5", "iw", "error, least", "2.3333", "0.88192", "3"},
		{"law=MCAR; d=5", "iw", "converged", "0.33333", "0.33333", "3"},
		{"law=MCAR; d=5", "em", "converged", "1", "", "1"},
	}, Summary(r, r.Columns[:4]))
}
