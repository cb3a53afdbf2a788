//go:build linux

package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/slowtest"
)

// A pass of Marg-Var straight from a Parquet file is possible with less memory than the table's
// numbers would take: less may be used, and all that the process had at a time, the program itself
// included, is less. Meanwhile it says how many rows it has gone over, and how long the others take.
func TestStreamedMemory(t *testing.T) {
	slowtest.Skip(t, "measures resident memory; 20 s")
	t.Parallel()
	const numbers = 1_600_000 * 20 * 8 // bytes: 256 MB
	table := wideFile(t, "t.parquet", 1_600_000, 0.1)
	most, said := peakOf(t, exitUnconverged, // of one pass nobody can tell whether it converged
		"fit", table, "--method", "var", "--epochs", "1", "--batch", "2000", "--draws", "2", "--imputer-steps", "1", "--imputer-options", `{"hidden":20}`, "--warm-up", "20",
		"--stream", "--memory", "200MB", "--out", table+".json")
	t.Logf("%.0f MB", most/1e6)
	require.Less(t, most, float64(numbers))
	require.Regexp(t, `(?m)^fit: iteration 400 of 800, pass 1 of 1, 800000 of 1600000 rows, loss \S+, about \d+m?\d*s left$`, said)
}
