//go:build linux

package cmd

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/slowtest"
)

// A network, or a check, takes at most 2.5 times the numbers of the table that is held, 8 bytes each, beside
// what the program takes itself: columns are standardised where they stand, and a million cells
// at most are tested for whether they are missing completely at random, which takes about 50 MB.
func TestHeldMemory(t *testing.T) {
	slowtest.Skip(t, "measures resident memory; 30 s")
	t.Parallel()
	const program = 60e6 // bytes
	for _, c := range []struct {
		name             string
		rows             int
		missing, numbers float64 // numbers: bytes
	}{{"t.csv", 500_000, 0, 500_000 * 20 * 8}, {"t.csv", 500_000, 0.05, 500_000 * 20 * 8}, {"t.parquet", 1_000_000, 0.05, 1_000_000 * 20 * 8}} {
		table := wideFile(t, c.name, c.rows, c.missing)
		for _, command := range [][]string{
			{"network", table, "--penalty", "l1", "--lambdas", "20", "--out", filepath.Join(filepath.Dir(table), "out")},
			{"check", table},
		} {
			most, _ := peakOf(t, exitDone, command...)
			t.Logf("%s, %s, %d rows, %v missing: %.0f MB, %.2f times the numbers beside the program", command[0], c.name, c.rows, c.missing, most/1e6, (most-program)/c.numbers)
			require.LessOrEqual(t, most, 2.5*c.numbers+program, "%s, %s, %d rows, %v missing", command[0], c.name, c.rows, c.missing)
		}
	}
}
