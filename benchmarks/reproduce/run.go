package reproduce

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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
	Note     func(experiment, note string)      // before its cells
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

	replicateColumn = "replicate" // of every grid's key
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
	var plan []planned
	for _, e := range experiments { // all settings and folders are looked at before the first cell runs
		p, err := o.plan(e)
		if errors.Is(err, benchmarks.ErrAbsent) && len(experiments) > 1 {
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
				o.Note(p.run.Experiment, note)
			}
		}
		n, err := o.cells(ctx, p)
		failed += n
		if err != nil {
			return failed, fmt.Errorf("%s: %w", p.run.Experiment, err)
		}
	}
	return failed, nil
}

// planned is what is to be run of an experiment: some cells of its grid.
type planned struct {
	run   run
	grid  benchmarks.Grid
	cells []benchmarks.Cell
	dir   string
}

func (o Options) plan(e benchmarks.Experiment) (planned, error) {
	r, err := newRun(e, o)
	if err != nil {
		return planned{}, err
	}
	grid, err := r.grid(e)
	if err != nil {
		return planned{}, err
	}
	if grid.Present != nil {
		if err := grid.Present(); err != nil {
			return planned{}, err
		}
	}
	p := planned{run: r, grid: grid, dir: filepath.Join(o.Out, e.Name)}
	if p.cells, err = o.part(grid.Cells); err != nil {
		return planned{}, err
	}
	_, err = o.claim(p)
	return p, err
}

// claim gives what a folder's run.json is to say. It fails where the folder is of other
// settings, or holds finished cells of later replicates, which a whole run would drop.
func (o Options) claim(p planned) (run, error) {
	before, err := readRun(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return run{}, err
	default:
		if err := before.same(p.run, p.dir); err != nil {
			return run{}, err
		}
		if o.Cell != "" { // it says nothing of how many replicates are wanted
			return before, nil
		}
	}
	_, held, err := finished(p.dir, p.grid)
	if err != nil {
		return run{}, err
	}
	if held > p.run.Replicates {
		return run{}, fmt.Errorf("%s holds %d replicates, not %d: ask for as many or more, or choose another folder", p.dir, held, p.run.Replicates)
	}
	return p.run, nil
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

// same says how two runs differ other than in their replicates and in what is called ours.
func (r run) same(other run, dir string) error {
	if r.Experiment != other.Experiment || r.Size != other.Size || !maps.EqualFunc(r.values(), other.values(), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return fmt.Errorf("%s is of a %s run of %s with other settings: choose another folder", dir, r.Size, r.Experiment)
	}
	return nil
}

// values are the settings that cells depend on.
func (r run) values() (values map[string]json.RawMessage) {
	if json.Unmarshal(r.Settings, &values) != nil {
		return nil // read has refused it already, or Grid will
	}
	delete(values, "ours")
	return values
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
func (o Options) cells(ctx context.Context, p planned) (failed int, err error) {
	file := cellsFile
	if o.Shards > 0 {
		file = fmt.Sprintf(shardPattern, o.Shard, o.Shards)
	}
	path, header := filepath.Join(p.dir, file), slices.Concat(p.grid.Key, p.grid.Value)
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return 0, err
	}
	lock, err := benchmarks.Lock(path)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	r, err := o.claim(p) // again, for another run may have written since
	if err != nil {
		return 0, err
	}
	if err := r.write(p.dir); err != nil {
		return 0, err
	}
	hooks := benchmarks.Hooks{Failed: func(key []string, err error) {
		failed++
		if o.Failed != nil {
			o.Failed(Failure{p.run.Experiment, strings.Join(key, ","), key[slices.Index(p.grid.Key, replicateColumn)], err})
		}
	}}
	if o.Progress != nil {
		hooks.Progress = func(done, total int) { o.Progress(p.run.Experiment, done, total) }
	}
	_, err = benchmarks.Run(ctx, path, header, p.cells, o.Workers, hooks)
	if err != nil || o.Cell != "" { // one cell leaves the order to the next whole run
		return failed, err
	}
	lines, err := benchmarks.ReadLines(path, header) // with cells that were the shard's when replicates were fewer
	if err != nil {
		return failed, err
	}
	return failed, benchmarks.WriteLines(path, header, benchmarks.Select(p.grid.Cells, lines))
}

// finished are the lines of all files of cells in a folder, and the last replicate among them.
func finished(dir string, grid benchmarks.Grid) (lines [][]string, last int, err error) {
	files, err := fs.Glob(os.DirFS(dir), "cells*.csv")
	if err != nil {
		return nil, 0, err
	}
	at := slices.Index(grid.Key, replicateColumn)
	for _, file := range files {
		path := filepath.Join(dir, file)
		more, err := benchmarks.ReadLines(path, slices.Concat(grid.Key, grid.Value))
		if err != nil {
			return nil, 0, err
		}
		for _, line := range more {
			replicate, err := strconv.Atoi(line[at])
			if err != nil {
				return nil, 0, fmt.Errorf("%s: replicate %q is no number", path, line[at])
			}
			last = max(last, replicate)
		}
		lines = append(lines, more...)
	}
	return lines, last, nil
}

// Merge joins what shards left in folders, and what is in out/NAME already, into
// out/NAME/cells.csv. It returns how many cells of the grids are still missing.
func Merge(dirs []string, out string) (missing int, err error) {
	found := false
	for _, e := range Experiments {
		var whole *run
		var from []string
		for i, dir := range append(slices.Clone(dirs), out) {
			at := filepath.Join(dir, e.Name)
			r, err := readRun(at)
			if errors.Is(err, fs.ErrNotExist) || i == len(dirs) && whole == nil { // nothing comes to what is there
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
			from = append(from, at)
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

// merge joins folders into one, which keeps what it has.
func (r run) merge(e benchmarks.Experiment, from []string, dir string) (missing int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, cellsFile)
	lock, err := benchmarks.Lock(path)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	grid, err := r.grid(e)
	if err != nil {
		return 0, err
	}
	var lines [][]string
	for _, at := range slices.Compact(append(from, dir)) {
		more, last, err := finished(at, grid)
		if err != nil {
			return 0, err
		}
		lines, r.Replicates = append(lines, more...), max(r.Replicates, last) // single cells may be of later ones
	}
	if grid, err = r.grid(e); err != nil {
		return 0, err
	}
	if err := r.write(dir); err != nil {
		return 0, err
	}
	lines = benchmarks.Select(grid.Cells, lines)
	return len(grid.Cells) - len(lines), benchmarks.WriteLines(path, slices.Concat(grid.Key, grid.Value), lines)
}
