package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
)

func TestSmallRun(t *testing.T) {
	dir := t.TempDir()
	table, err := data.SimulateModes(3, 2, stream.New(1)).Sample(120, stream.New(2))
	require.NoError(t, err)
	table.Names = []string{"raf", "mek", "erk"}
	path := filepath.Join(dir, "table.csv")
	require.NoError(t, data.WriteCSV(path, table))
	s := settings{table: path, columns: table.Names, rows: 60, held: 30, epochs: 2, draws: 3, steps: 20, missing: 0.4, rate: 0.01,
		network: `{"hidden":[4]}`, noise: `{"noise":{"kind":"preserving"}}`, out: dir}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "rows"), 0o755))
	require.NoError(t, s.run([]string{"floor", "iw", "missdiff", "gaussian"}, 1, 2))
	for _, name := range []string{"results.csv", "pairs.svg", "rows/missdiff.csv"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	fit, held, other, err := s.split(1)
	require.NoError(t, err)
	seen := map[float64]bool{}
	for _, part := range []*data.Table{fit, held, other} {
		for _, v := range part.Values {
			require.False(t, seen[v], "a row is in two parts")
			seen[v] = true
		}
	}
	require.Len(t, seen, 3*120)
	s.held = 40
	_, _, _, err = s.split(1)
	require.ErrorContains(t, err, "140 complete rows are needed")
}
