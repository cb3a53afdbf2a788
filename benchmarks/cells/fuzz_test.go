package cells_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/internal/fuzztest"
)

// Whatever a file of results holds is read, and comes again as it is written, or is refused; a
// last line without its end is left out.
func FuzzReadLines(f *testing.F) {
	header := []string{"method", "replicate", "loss"}
	fuzztest.Reader[[][]string]{
		Read:  fuzztest.InFile(f, "cells.csv", func(path string) ([][]string, error) { return cells.ReadLines(path, header) }),
		Write: fuzztest.Written(f, "cells.csv", func(path string, lines [][]string) error { return cells.WriteLines(path, header, lines) }),
		Check: func(t testing.TB, text string, lines [][]string) {
			for _, line := range lines {
				require.Len(t, line, len(header), "%q", text)
			}
		},
		Accepts: []string{"", "method,replicate,loss\n", "method,replicate,loss\niw,1,0.5\n\"a,b\",2,\n", "method,replicate,loss\niw,1,0.5\niw,2", "method"},
		Refuses: []string{"method,replicate\n", "loss,replicate,method\n", "method,replicate,loss\niw,1\n", "method,replicate,loss\niw,\"1,2\n"},
	}.Fuzz(f)
}
