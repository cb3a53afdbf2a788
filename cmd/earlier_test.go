package cmd

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Networks are those of the program of 22 November 2026 (commit ba3dbb87), which took every
// step over the rows and knew no moments, active sets, strong rule, Newton steps nor
// acceleration: to 1e-8 in partial correlations, its tolerance being far below. Its edges.csv
// are in testdata/earlier, made with the arguments below.
func TestNetworksAreThoseOfEarlierRoutes(t *testing.T) {
	const folder = "testdata/earlier"
	for method, table := range map[string]string{"exact": "gaps.csv", "em-exact": "gaps.csv", "zeroed": "gaps.csv", "full": "complete.csv"} {
		out := filepath.Join(t.TempDir(), method)
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitDone, run([]string{"network", filepath.Join(folder, table), "--method", method, "--penalty", "l1", "--select", "none",
			"--lambda-max", "0.5", "--lambda-min", "0.05", "--lambdas", "5", "--tolerance", "1e-11", "--refit=false", "--out", out}, &stdout, &stderr), "%s", &stderr)
		earlier, now := partialCorrelations(t, filepath.Join(folder, method+".csv")), partialCorrelations(t, filepath.Join(out, "edges.csv"))
		require.NotEmpty(t, earlier)
		require.Len(t, now, len(earlier), method)
		for pair, v := range earlier {
			require.InDelta(t, v, now[pair], 1e-8, "%s, %v", method, pair)
		}
	}
}

// partialCorrelations are those of an edges.csv, by the names of the columns.
func partialCorrelations(t *testing.T, path string) map[[2]string]float64 {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"from", "to", "weight", "partial_correlation"}, lines[0][:4])
	edges := map[[2]string]float64{}
	for _, line := range lines[1:] {
		v, err := strconv.ParseFloat(line[3], 64)
		require.NoError(t, err)
		edges[[2]string{min(line[0], line[1]), max(line[0], line[1])}] = v
	}
	return edges
}
