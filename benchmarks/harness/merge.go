package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
)

// Loaded holds the finished cells of an experiment.
type Loaded struct {
	Results cells.Results
	Key     []string // the key columns, the first of Results.Columns
}

// Load reads the finished cells in out/NAME. It fails with fs.ErrNotExist if there are none.
func Load(e Experiment, out string) (l Loaded, err error) {
	dir := filepath.Join(out, e.Name)
	m, err := readManifest(dir)
	if err != nil {
		return l, err
	}
	grid, err := m.grid(e)
	if err != nil {
		return l, err
	}
	l.Results.Columns, l.Key = grid.Columns(), grid.Key
	lines, err := cells.ReadLines(filepath.Join(dir, cellsFile), l.Results.Columns)
	l.Results.Lines = cells.Select(grid.Cells, lines)
	return l, err
}

// Merge joins the results of shards in the folders dirs, and the cells already in out/NAME, into
// out/NAME/cells.csv. missing counts the cells of the grids without a line.
func Merge(experiments []Experiment, dirs []string, out string) (missing int, err error) {
	found := false
	for _, e := range experiments {
		whole, from, err := parts(e, dirs, out)
		if err != nil {
			return missing, err
		}
		if whole == nil {
			continue
		}
		found = true
		n, err := whole.merge(e, from, filepath.Join(out, e.Name))
		missing += n
		if err != nil {
			return missing, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if !found {
		return 0, fmt.Errorf("there are no results in %s: give the folders that --out named", strings.Join(dirs, ", "))
	}
	return missing, nil
}

// parts returns the folders with cells of an experiment and their common manifest. whole is nil if
// none of dirs has any.
func parts(e Experiment, dirs []string, out string) (whole *manifest, from []string, err error) {
	for i, dir := range append(slices.Clone(dirs), out) {
		at := filepath.Join(dir, e.Name)
		m, err := readManifest(at)
		if errors.Is(err, fs.ErrNotExist) || i == len(dirs) && whole == nil {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if whole == nil {
			whole = &m
		} else if err := whole.same(m, at); err != nil {
			return nil, nil, err
		}
		whole.Replicates = max(whole.Replicates, m.Replicates)
		from = append(from, at)
	}
	return whole, from, nil
}

func (m manifest) merge(e Experiment, from []string, dir string) (missing int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, cellsFile)
	lock, err := cells.Lock(path)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	grid, err := m.grid(e)
	if err != nil {
		return 0, err
	}
	var lines [][]string
	for _, at := range slices.Compact(append(from, dir)) {
		more, last, err := finished(at, grid)
		if err != nil {
			return 0, err
		}
		lines, m.Replicates = append(lines, more...), max(m.Replicates, last) // --cell may have run later replicates
	}
	if grid, err = m.grid(e); err != nil {
		return 0, err
	}
	if err := m.write(dir); err != nil {
		return 0, err
	}
	lines = cells.Select(grid.Cells, lines)
	return len(grid.Cells) - len(lines), cells.WriteLines(path, grid.Columns(), lines)
}
