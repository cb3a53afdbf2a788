package denoising

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

func TestSmallRun(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	table, err := simulate.Modes(3, 2, stream.New(1)).Sample(120, stream.New(2))
	require.NoError(t, err)
	table.Names = []string{"raf", "mek", "erk"}
	require.NoError(t, data.WriteCSV(filepath.Join(dir, "table.csv"), table))
	own := `{"full": {"replicates": 2, "folder": "` + dir + `", "table": "table.csv", "columns": ["raf", "mek", "erk"], "rows": 60, "held": 30, "missing": 0.4,
		"epochs": 2, "rate": 0.01, "steps": 20, "fit": {"draws": 3, "warm_up": 500}, "network": {"hidden": [4]}, "noise": {"noise": {"kind": "preserving"}},
		"methods": [{"name": "floor"}, {"name": "iw", "model": "energy", "method": "iw"}, {"name": "missdiff", "model": "score-network", "method": "zeroed"}, {"name": "gaussian", "model": "gaussian", "method": "exact"}],
		"shown": {"rows": 250, "methods": ["floor", "iw"], "pairs": [["raf", "mek"]]}}}`
	failed, err := harness.Run(t.Context(), []harness.Experiment{Experiment}, harness.Options{Out: out, Config: []byte(own)})
	require.NoError(t, err)
	require.Zero(t, failed)
	l, err := harness.Load(Experiment, out)
	require.NoError(t, err)
	drawn, err := draw(l.Settings, l.Results)
	require.NoError(t, err)
	require.Len(t, drawn, 1)
	made, err := tables(l.Settings, l.Results)
	require.NoError(t, err)
	require.Len(t, made[0].Lines, 4)

	s, err := decode(l.Settings)
	require.NoError(t, err)
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
	s.Held = 40
	_, _, _, err = s.split(1)
	require.ErrorContains(t, err, "140 complete rows are needed")

	_, err = decode([]byte(strings.ReplaceAll(string(l.Settings), `[["raf","mek"]]`, `[["raf","akt"]]`)))
	require.EqualError(t, err, `settings: shown: "akt" is none of the columns`)
}
