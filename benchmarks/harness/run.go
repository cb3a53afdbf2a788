package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
)

// Run runs what is missing of the experiments' cells into Out/NAME/cells.csv. Stopped
// anywhere, the same call goes on and ends with the same bytes, whatever the
// number of workers. It returns the number of cells that failed; they do not stop the rest.
func Run(ctx context.Context, experiments []Experiment, o Options) (failed int, err error) {
	if o.Config != nil && len(experiments) != 1 {
		return 0, errors.New("settings of one's own are for one experiment at a time")
	}
	if o.Shards < 0 || o.Shards > 0 && (o.Shard < 1 || o.Shard > o.Shards) {
		return 0, fmt.Errorf("shard %d of %d: the first is 1, the last %d", o.Shard, o.Shards, o.Shards)
	}
	if o.Workers == 0 {
		o.Workers = runtime.NumCPU()
	}
	var plan []planned
	for _, e := range experiments { // all settings and folders are looked at before the first cell runs
		p, err := o.plan(e)
		if errors.Is(err, cells.ErrAbsent) && len(experiments) > 1 {
			if o.Skipped != nil {
				o.Skipped(e.Name, err)
			}
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		plan = append(plan, p)
	}
	for _, p := range plan {
		if o.Note != nil {
			for _, note := range p.grid.Notes {
				o.Note(p.manifest.Experiment, note)
			}
		}
		n, err := o.cells(ctx, p)
		failed += n
		if err != nil {
			return failed, fmt.Errorf("%s: %w", p.manifest.Experiment, err)
		}
	}
	return failed, nil
}

// planned is what is to be run of an experiment: some cells of its grid.
type planned struct {
	manifest manifest
	grid     cells.Grid
	cells    []cells.Cell
	dir      string
}

func (o Options) plan(e Experiment) (planned, error) {
	m, err := newManifest(e, o)
	if err != nil {
		return planned{}, err
	}
	grid, err := m.grid(e)
	if err != nil {
		return planned{}, err
	}
	if grid.Present != nil {
		if err := grid.Present(); err != nil {
			return planned{}, err
		}
	}
	p := planned{manifest: m, grid: grid, dir: filepath.Join(o.Out, e.Name)}
	if p.cells, err = o.part(grid.Cells); err != nil {
		return planned{}, err
	}
	_, err = o.claim(p)
	return p, err
}

// claim gives what a folder's run.json is to say. It fails where the folder is of other
// settings, or holds finished cells of later replicates, which a whole run would drop.
func (o Options) claim(p planned) (manifest, error) {
	before, err := readManifest(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return manifest{}, err
	default:
		if err := before.same(p.manifest, p.dir); err != nil {
			return manifest{}, err
		}
		if o.Cell != "" { // it says nothing of how many replicates are wanted
			return before, nil
		}
	}
	_, held, err := finished(p.dir, p.grid)
	if err != nil {
		return manifest{}, err
	}
	if held > p.manifest.Replicates {
		return manifest{}, fmt.Errorf("%s holds %d replicates, not %d: ask for as many or more, or choose another folder", p.dir, held, p.manifest.Replicates)
	}
	return p.manifest, nil
}

// part are the cells of the shard, or the one asked for.
func (o Options) part(all []cells.Cell) ([]cells.Cell, error) {
	if o.Cell != "" {
		for _, c := range all {
			if c.Name() == o.Cell {
				return []cells.Cell{c}, nil
			}
		}
		return nil, fmt.Errorf("there is no cell %s; the first is %s", o.Cell, all[0].Name())
	}
	if o.Shards == 0 {
		return all, nil
	}
	var out []cells.Cell
	for i := o.Shard - 1; i < len(all); i += o.Shards {
		out = append(out, all[i])
	}
	return out, nil
}

// cells runs them and leaves the file in the order of the grid.
func (o Options) cells(ctx context.Context, p planned) (failed int, err error) {
	file := cellsFile
	if o.Shards > 0 {
		file = fmt.Sprintf(shardPattern, o.Shard, o.Shards)
	}
	path, header := filepath.Join(p.dir, file), p.grid.Columns()
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return 0, err
	}
	lock, err := cells.Lock(path)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	m, err := o.claim(p) // again, for another run may have written since
	if err != nil {
		return 0, err
	}
	if err := m.write(p.dir); err != nil {
		return 0, err
	}
	_, err = cells.Run(ctx, path, header, p.cells, o.Workers, o.hooks(p, &failed))
	if err != nil || o.Cell != "" { // one cell leaves the order to the next whole run
		return failed, err
	}
	lines, err := cells.ReadLines(path, header) // with cells that were the shard's when replicates were fewer
	if err != nil {
		return failed, err
	}
	return failed, cells.WriteLines(path, header, cells.Select(p.grid.Cells, lines))
}

// hooks tell of an experiment's cells, and count those that failed. What some cells lack
// is told once.
func (o Options) hooks(p planned, failed *int) cells.Hooks {
	name, absent := p.manifest.Experiment, 0
	hooks := cells.Hooks{
		Failed: func(key []string, err error) {
			*failed++
			if o.Failed != nil {
				o.Failed(Failure{name, strings.Join(key, ","), key[slices.Index(p.grid.Key, replicateColumn)], err})
			}
		},
		Absent: func(key []string, err error) {
			if absent++; absent == 1 && o.Skipped != nil {
				o.Skipped(fmt.Sprintf("%s, %s and any like it", name, strings.Join(key, ",")), err)
			}
		},
	}
	if o.Progress != nil {
		hooks.Progress = func(done, total int) { o.Progress(name, done, total) }
	}
	return hooks
}
