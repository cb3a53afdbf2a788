package reproduce

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"missingscore/benchmarks"
	"missingscore/internal/atomicfile"
	"missingscore/internal/strictjson"
)

// Options of a run. Zero values mean the defaults named here.
type Options struct {
	Out        string
	Smoke      bool   // the small settings
	Replicates int    // those of the settings
	Shard      int    // this one, from 1 …
	Shards     int    // … of so many; 0: all cells
	Workers    int    // cells at a time; the processors
	Config     []byte // in place of the experiment's own settings: {"full": …, "smoke": …}
	Cell       string // only this one, its key joined by commas

	Progress func(experiment string, done, total int)
	Failed   func(Failure)
	Skipped  func(experiment string, why error) // its data is not here
}

// Failure is a cell that failed.
type Failure struct {
	Experiment string
	Cell       string // as Options.Cell takes it
	Replicate  string
	Err        error
}

// cellsFile holds an experiment's finished cells, one a line, in the order of the grid
// when the run is over. A shard has a file of its own.
const (
	cellsFile    = "cells.csv"
	shardPattern = "cells-%d-of-%d.csv"
	runFile      = "run.json"
)

// run is what a folder of results came from.
type run struct {
	Experiment string          `json:"experiment"`
	Size       string          `json:"size"`
	Replicates int             `json:"replicates"`
	Settings   json.RawMessage `json:"settings"`
}

// Run runs what is missing of the experiments' cells into Out/NAME/cells.csv. Where
// it was cut anywhere, the same call goes on and ends with the same bytes, whatever the
// number of workers. It returns the number of cells that failed; they do not stop the rest.
func Run(ctx context.Context, experiments []benchmarks.Experiment, o Options) (failed int, err error) {
	if o.Config != nil && len(experiments) != 1 {
		return 0, errors.New("settings of one's own are for one experiment at a time")
	}
	if o.Shards < 0 || o.Shards > 0 && (o.Shard < 1 || o.Shard > o.Shards) {
		return 0, fmt.Errorf("shard %d of %d: the first is 1, the last %d", o.Shard, o.Shards, o.Shards)
	}
	if o.Workers == 0 {
		o.Workers = runtime.NumCPU()
	}
	type planned struct {
		experiment benchmarks.Experiment
		run        run
		grid       benchmarks.Grid
	}
	var plan []planned
	for _, e := range experiments { // all settings are read before the first cell runs
		r, err := newRun(e, o)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		grid, err := r.grid(e)
		if err == nil && grid.Present != nil {
			err = grid.Present()
		}
		if errors.Is(err, benchmarks.ErrAbsent) && len(experiments) > 1 {
			if o.Skipped != nil {
				o.Skipped(e.Name, err)
			}
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		if grid.Cells, err = o.part(grid.Cells); err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		plan = append(plan, planned{e, r, grid})
	}
	for _, p := range plan {
		dir := filepath.Join(o.Out, p.experiment.Name)
		if err := p.run.claim(dir); err != nil {
			return failed, err
		}
		n, err := o.cells(ctx, p.experiment.Name, dir, p.grid)
		failed += n
		if err != nil {
			return failed, fmt.Errorf("%s: %w", p.experiment.Name, err)
		}
	}
	return failed, nil
}

// newRun reads the settings of the size that is asked for.
func newRun(e benchmarks.Experiment, o Options) (run, error) {
	text := e.Settings
	if o.Config != nil {
		text = o.Config
	}
	var sizes struct {
		Full  json.RawMessage `json:"full"`
		Smoke json.RawMessage `json:"smoke"`
	}
	if err := strictjson.Decode(text, &sizes, `{"full": {…}, "smoke": {…}}`); err != nil {
		return run{}, fmt.Errorf("settings: %w", err)
	}
	size, settings := "full", sizes.Full
	if o.Smoke {
		size, settings = "smoke", sizes.Smoke
	}
	r := run{Experiment: e.Name, Size: size, Settings: settings, Replicates: o.Replicates}
	if o.Config != nil {
		r.Size += ", own settings"
	}
	if r.Settings == nil {
		return run{}, fmt.Errorf("settings: there is no %q among them", size)
	}
	if r.Replicates == 0 {
		var s struct{ Replicates int }
		if err := json.Unmarshal(r.Settings, &s); err != nil {
			return run{}, fmt.Errorf("settings: %w", err)
		}
		r.Replicates = s.Replicates
	}
	if r.Replicates < 1 {
		return run{}, fmt.Errorf("%d replicates: at least one is needed, in the settings or asked for", r.Replicates)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.Settings); err != nil {
		return run{}, fmt.Errorf("settings: %w", err)
	}
	r.Settings = compact.Bytes()
	return r, nil
}

// grid is the experiment's.
func (r run) grid(e benchmarks.Experiment) (benchmarks.Grid, error) {
	g, err := e.Grid(r.Settings, r.Replicates)
	if err != nil {
		return g, err
	}
	if err := g.Check(); err != nil {
		return g, fmt.Errorf("settings: %w", err)
	}
	return g, nil
}

// claim takes a folder for the run, or goes on in it if it is the run's, perhaps with
// fewer replicates.
func (r run) claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	before, err := readRun(dir)
	if err == nil {
		if err := before.same(r, dir); err != nil {
			return err
		}
		if before.Replicates > r.Replicates {
			return fmt.Errorf("%s holds %d replicates, not %d: ask for as many or more, or choose another folder", dir, before.Replicates, r.Replicates)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.write(dir)
}

// same says how two runs differ other than in their replicates.
func (r run) same(other run, dir string) error {
	if r.Experiment != other.Experiment || r.Size != other.Size || !bytes.Equal(r.Settings, other.Settings) {
		return fmt.Errorf("%s is of a %s run of %s with other settings: choose another folder", dir, r.Size, r.Experiment)
	}
	return nil
}

func (r run) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, runFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false) // the settings are compared to the byte when the run goes on
		return e.Encode(r)
	})
}

func readRun(dir string) (r run, err error) {
	path := filepath.Join(dir, runFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.Settings); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	r.Settings = compact.Bytes()
	return r, nil
}

// part are the cells of the shard, or the one asked for.
func (o Options) part(cells []benchmarks.Cell) ([]benchmarks.Cell, error) {
	if o.Cell != "" {
		for _, c := range cells {
			if c.Name() == o.Cell {
				return []benchmarks.Cell{c}, nil
			}
		}
		return nil, fmt.Errorf("there is no cell %s; the first is %s", o.Cell, cells[0].Name())
	}
	if o.Shards == 0 {
		return cells, nil
	}
	var out []benchmarks.Cell
	for i := o.Shard - 1; i < len(cells); i += o.Shards {
		out = append(out, cells[i])
	}
	return out, nil
}

// cells runs them and leaves the file in the order of the grid.
func (o Options) cells(ctx context.Context, name, dir string, grid benchmarks.Grid) (failed int, err error) {
	file := cellsFile
	if o.Shards > 0 {
		file = fmt.Sprintf(shardPattern, o.Shard, o.Shards)
	}
	path, header := filepath.Join(dir, file), slices.Concat(grid.Key, grid.Value)
	hooks := benchmarks.Hooks{Failed: func(key []string, err error) {
		failed++
		if o.Failed != nil {
			o.Failed(Failure{name, strings.Join(key, ","), key[slices.Index(grid.Key, "replicate")], err})
		}
	}}
	if o.Progress != nil {
		hooks.Progress = func(done, total int) { o.Progress(name, done, total) }
	}
	lines, err := benchmarks.Run(ctx, path, header, grid.Cells, o.Workers, hooks)
	if err != nil || o.Cell != "" { // one cell leaves the order to the next whole run
		return failed, err
	}
	return failed, benchmarks.WriteLines(path, header, lines)
}

// Merge joins what shards left in folders into out/NAME/cells.csv. It returns
// how many cells of the grids are still missing.
func Merge(dirs []string, out string) (missing int, err error) {
	found := false
	for _, e := range Experiments {
		var whole *run
		var paths []string
		for _, dir := range dirs {
			at := filepath.Join(dir, e.Name)
			r, err := readRun(at)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return missing, err
			}
			if whole == nil {
				whole = &r
			} else if err := whole.same(r, at); err != nil {
				return missing, err
			}
			whole.Replicates = max(whole.Replicates, r.Replicates)
			files, err := filepath.Glob(filepath.Join(at, "cells*.csv"))
			if err != nil {
				return missing, err
			}
			paths = append(paths, files...)
		}
		if whole == nil {
			continue
		}
		found = true
		n, err := whole.merge(e, paths, filepath.Join(out, e.Name))
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

func (r run) merge(e benchmarks.Experiment, paths []string, dir string) (missing int, err error) {
	grid, err := r.grid(e)
	if err != nil {
		return 0, err
	}
	header := slices.Concat(grid.Key, grid.Value)
	var lines [][]string
	for _, path := range paths {
		more, err := benchmarks.ReadLines(path, header)
		if err != nil {
			return 0, err
		}
		lines = append(lines, more...)
	}
	if err := r.claim(dir); err != nil {
		return 0, err
	}
	lines = benchmarks.Select(grid.Cells, lines)
	return len(grid.Cells) - len(lines), benchmarks.WriteLines(filepath.Join(dir, cellsFile), header, lines)
}
