package harness

import (
	"encoding/json"
	"path/filepath"

	"missingscore/benchmarks/cells"
)

// Loaded is what a folder holds of an experiment.
type Loaded struct {
	Experiment Experiment
	Size       string // full or smoke
	Replicates int
	Settings   json.RawMessage
	Results    cells.Results
	Key        []string // its first columns
	Wanted     int      // cells of the grid
}

// Load reads the finished cells in out/NAME, with what they came from. It fails with
// fs.ErrNotExist where there are none.
func Load(e Experiment, out string) (Loaded, error) {
	dir := filepath.Join(out, e.Name)
	m, err := readManifest(dir)
	if err != nil {
		return Loaded{}, err
	}
	grid, err := m.grid(e)
	if err != nil {
		return Loaded{}, err
	}
	l := Loaded{Experiment: e, Size: m.Size, Replicates: m.Replicates, Settings: m.Settings, Wanted: len(grid.Cells)}
	l.Results.Columns, l.Key = grid.Columns(), grid.Key
	lines, err := cells.ReadLines(filepath.Join(dir, cellsFile), l.Results.Columns)
	l.Results.Lines = cells.Select(grid.Cells, lines)
	return l, err
}
