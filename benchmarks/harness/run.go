package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"missingscore/internal/atomicfile"
	"missingscore/internal/strictjson"
)

const (
	runFile         = "run.json"
	replicateColumn = "replicate" // in the key of each grid
)

type Options struct {
	Out        string
	Smoke      bool      // use the small settings
	Replicates int       // 0: as in the settings
	Shard      int       // from 1 to Shards
	Shards     int       // 0: all cells
	Workers    int       // concurrent cells
	Config     []byte    // settings that replace the experiment's own; nil: none
	Cell       string    // run only the cell with this key, joined by commas
	Log        io.Writer // progress, failures and skipped cells
}

// run.json: how the cells of a folder were computed.
type manifest struct {
	Experiment string          `json:"experiment"`
	Size       string          `json:"size"`
	Replicates int             `json:"replicates"`
	Settings   json.RawMessage `json:"settings"`
}

func newManifest(e Experiment, o Options) (m manifest, err error) {
	text, size, own := e.Settings, "full", ""
	if o.Config != nil {
		text, own = o.Config, ", own settings"
	}
	if o.Smoke {
		size = "smoke"
	}
	var sizes map[string]json.RawMessage
	if err := Decode(text, &sizes); err != nil {
		return m, err
	}
	if sizes[size] == nil {
		return m, fmt.Errorf("settings: there is no %q", size)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, sizes[size]); err != nil {
		return m, err
	}
	var s struct{ Replicates int }
	if err := json.Unmarshal(compact.Bytes(), &s); err != nil {
		return m, fmt.Errorf("settings: %w", strictjson.Plainly(err))
	}
	return manifest{e.Name, size + own, cmp.Or(o.Replicates, s.Replicates), compact.Bytes()}, nil
}

// SettingsOf returns the settings of a size, "full" or "smoke".
func (e Experiment) SettingsOf(size string) (json.RawMessage, error) {
	m, err := newManifest(e, Options{Smoke: size == "smoke"})
	return m.Settings, err
}

func (m manifest) grid(e Experiment) (Grid, error) {
	g, err := e.Grid(m.Settings, m.Replicates)
	if err == nil {
		err = g.Check()
	}
	return g, err
}

// Runs may differ in replicates and the list "ours".
func (m manifest) same(other manifest) bool {
	values := func(m manifest) (v map[string]any) {
		if json.Unmarshal(m.Settings, &v) == nil {
			delete(v, "ours")
		}
		return v
	}
	return m.Experiment == other.Experiment && m.Size == other.Size && reflect.DeepEqual(values(m), values(other))
}

func (m manifest) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, runFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		return e.Encode(m)
	})
}

func readManifest(dir string) (m manifest, err error) {
	path := filepath.Join(dir, runFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, strictjson.Plainly(err))
	}
	return m, nil
}

type folder struct {
	dir string
	manifest
	Grid // the cells of the shard, or the one cell
}

// Run runs the missing cells and writes Out/NAME/cells.csv; results do not depend on interruptions
// or workers. Failed cells are logged and counted. Settings and folders are checked first.
func Run(ctx context.Context, experiments []Experiment, o Options) (failed int, err error) {
	if o.Config != nil && len(experiments) != 1 {
		return 0, errors.New("--config needs exactly one experiment")
	}
	var plan []folder
	for _, e := range experiments {
		f, err := o.open(e)
		if errors.Is(err, ErrAbsent) && len(experiments) > 1 {
			fmt.Fprintf(o.Log, "%s is skipped: %v\n", e.Name, err)
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		plan = append(plan, f)
	}
	for _, f := range plan {
		n, err := f.run(ctx, o)
		failed += n
		if err != nil {
			return failed, fmt.Errorf("%s: %w", f.Experiment, err)
		}
	}
	return failed, nil
}

func (o Options) open(e Experiment) (f folder, err error) {
	f.dir = filepath.Join(o.Out, e.Name)
	if f.manifest, err = newManifest(e, o); err != nil {
		return f, err
	}
	if f.Grid, err = f.grid(e); err != nil {
		return f, err
	}
	if err := f.Present(); err != nil {
		return f, err
	}
	if o.Cell != "" {
		i := slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Name() == o.Cell })
		if i < 0 {
			return f, fmt.Errorf("there is no cell %s; the first is %s", o.Cell, f.Cells[0].Name())
		}
		f.Cells = f.Cells[i : i+1]
	} else if o.Shards > 0 {
		var some []Cell
		for i := o.Shard - 1; i < len(f.Cells); i += o.Shards {
			some = append(some, f.Cells[i])
		}
		f.Cells = some
	}
	before, err := readManifest(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && !before.same(f.manifest) {
		err = fmt.Errorf("%s is of a %s run of %s with other settings: choose another folder", f.dir, before.Size, before.Experiment)
	}
	f.Replicates = max(f.Replicates, before.Replicates)
	return f, err
}

func (f folder) run(ctx context.Context, o Options) (failed int, err error) {
	if len(f.Cells) == 0 {
		return 0, nil
	}
	file := "cells.csv"
	if o.Shards > 0 {
		file = fmt.Sprintf("cells-%d-of-%d.csv", o.Shard, o.Shards)
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return 0, err
	}
	if err := f.write(f.dir); err != nil {
		return 0, err
	}
	fmt.Fprintf(o.Log, "%s: %d cells\n", f.Experiment, len(f.Cells))
	absent, last := false, time.Now()
	finished := func(c Cell, done, missing int, err error) {
		switch {
		case errors.Is(err, ErrAbsent) && !absent:
			absent = true
			fmt.Fprintf(o.Log, "%s, %s and similar cells are skipped: %v\n", f.Experiment, c.Name(), err)
		case err != nil && !errors.Is(err, ErrAbsent):
			failed++
			fmt.Fprintf(o.Log, "%s failed: %v\n  again: --cell '%s'\n", f.Experiment, err, c.Name())
		}
		if now := time.Now(); now.Sub(last) > 5*time.Second {
			last = now
			fmt.Fprintf(o.Log, "%s: %d of %d cells\n", f.Experiment, done, missing)
		}
	}
	_, err = Fill(ctx, filepath.Join(f.dir, file), f.Columns(), f.Cells, o.Workers, finished)
	return failed, err
}

type Results struct {
	Key     []string // the first columns
	Columns []string
	Lines   [][]string
	Missing int // cells of the grid that are not finished
}

// Column returns the index of a column.
func (r Results) Column(name string) (int, error) {
	if i := slices.Index(r.Columns, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no column %q among %q", name, r.Columns)
}

// Load reads the finished cells in out/NAME, including shards; fs.ErrNotExist if there are none.
func Load(e Experiment, out string) (r Results, err error) {
	dir := filepath.Join(out, e.Name)
	m, err := readManifest(dir)
	if err != nil {
		return r, err
	}
	g, err := m.grid(e)
	if err != nil {
		return r, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "cells*.csv"))
	if err != nil {
		return r, err
	}
	var lines [][]string
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return r, err
		}
		more, _, err := readLines(f, g.Columns())
		f.Close()
		if err != nil {
			return r, err
		}
		lines = append(lines, more...)
	}
	r = Results{Key: g.Key, Columns: g.Columns(), Lines: inOrder(g.Cells, byKey(g.Cells, lines))}
	r.Missing = len(g.Cells) - len(r.Lines)
	return r, nil
}
