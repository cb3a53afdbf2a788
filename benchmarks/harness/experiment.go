// Package harness runs the cells of experiments and stores finished cells so that an interrupted
// run continues.
package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"missingscore/benchmarks/cells"
	"missingscore/internal/atomicfile"
	"missingscore/internal/strictjson"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers/estimator"
)

const (
	runFile         = "run.json"
	replicateColumn = "replicate" // in the key of each grid
)

// run.json: how the cells of a folder were computed.
type manifest struct {
	Experiment string          `json:"experiment"`
	Size       string          `json:"size"`
	Replicates int             `json:"replicates"`
	Settings   json.RawMessage `json:"settings"`
}

func newManifest(e Experiment, o Options) (manifest, error) {
	text := e.Settings
	if o.Config != nil {
		text = o.Config
	}
	var sizes struct {
		Full  json.RawMessage `json:"full"`
		Smoke json.RawMessage `json:"smoke"`
	}
	if err := strictjson.Decode(text, &sizes, ""); err != nil {
		return manifest{}, fmt.Errorf("settings: %w", err)
	}
	size, settings := "full", sizes.Full
	if o.Smoke {
		size, settings = "smoke", sizes.Smoke
	}
	if settings == nil {
		return manifest{}, fmt.Errorf("settings: there is no %q", size)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, settings); err != nil {
		return manifest{}, fmt.Errorf("settings: %w", err)
	}
	m := manifest{Experiment: e.Name, Size: size, Settings: compact.Bytes(), Replicates: o.Replicates}
	if o.Config != nil {
		m.Size += ", own settings"
	}
	if m.Replicates == 0 {
		var s struct{ Replicates int }
		if err := json.Unmarshal(m.Settings, &s); err != nil {
			return manifest{}, fmt.Errorf("settings: %w", strictjson.Plainly(err))
		}
		m.Replicates = s.Replicates
	}
	if m.Replicates < 1 {
		return manifest{}, fmt.Errorf("%d replicates: at least 1 is needed", m.Replicates)
	}
	return m, nil
}

func (m manifest) grid(e Experiment) (cells.Grid, error) {
	g, err := e.Grid(m.Settings, m.Replicates)
	if err == nil {
		if err = g.Check(); err != nil {
			err = fmt.Errorf("settings: %w", err)
		}
	}
	return g, err
}

// Runs may differ in replicates and the list "ours".
func (m manifest) same(other manifest, dir string) error {
	if m.Experiment != other.Experiment || m.Size != other.Size || !reflect.DeepEqual(m.values(), other.values()) {
		return fmt.Errorf("%s is of a %s run of %s with other settings: choose another folder", dir, m.Size, m.Experiment)
	}
	return nil
}

func (m manifest) values() (values map[string]any) {
	if json.Unmarshal(m.Settings, &values) != nil {
		return nil
	}
	delete(values, "ours")
	return values
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

type Loaded struct {
	Results cells.Results
	Key     []string // the key columns, the first of Results.Columns
	Missing int      // cells of the grid that are not finished
}

// Load reads the finished cells in out/NAME, including shards; fs.ErrNotExist if there are none.
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
	files, err := fs.Glob(os.DirFS(dir), "cells*.csv")
	if err != nil {
		return l, err
	}
	var lines [][]string
	for _, file := range files {
		more, err := cells.ReadLines(filepath.Join(dir, file), grid.Columns())
		if err != nil {
			return l, err
		}
		lines = append(lines, more...)
	}
	l.Results.Columns, l.Key = grid.Columns(), grid.Key
	l.Results.Lines = cells.Select(grid.Cells, lines)
	l.Missing = len(grid.Cells) - len(l.Results.Lines)
	return l, nil
}

type Experiment struct {
	Name     string // as in "run NAME"
	Title    string
	Source   string // section and figure of the paper, or a page of this project
	Settings []byte // {"full": {…}, "smoke": {…}}; "ours" lists the settings that the paper does not state

	// Grid returns the cells for one size of settings, without reading data. Key columns are the
	// setting, then replicate, then method.
	Grid func(settings json.RawMessage, replicates int) (cells.Grid, error)
}

// SettingsOf returns the settings of a size, "full" or "smoke".
func (e Experiment) SettingsOf(size string) (json.RawMessage, error) {
	m, err := newManifest(e, Options{Smoke: size == "smoke"})
	return m.Settings, err
}

type Options struct {
	Out        string
	Smoke      bool   // use the small settings
	Replicates int    // 0: as in the settings
	Shard      int    // from 1 to Shards
	Shards     int    // 0: all cells
	Workers    int    // concurrent cells; 0: number of processors
	Config     []byte // settings that replace the experiment's own; nil: none
	Cell       string // run only the cell with this key, joined by commas

	Progress func(experiment string, done, total int) // may be nil
	Log      io.Writer                                // failures, skipped cells and notes; nil: discarded
}

// FolderVariable names the folder of the real tables.
const FolderVariable = "MISSINGSCORE_DATA"

// DataPath returns the path of a real table. An empty folder means FolderVariable.
func DataPath(folder, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cmp.Or(folder, os.Getenv(FolderVariable)), file)
}

// Present fails with cells.ErrAbsent.
func Present(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %w; set %s to the folder that holds %s", cells.ErrAbsent, err, FolderVariable, filepath.Base(path))
	}
	return nil
}

// Decode fails on fields that v does not have.
func Decode(settings json.RawMessage, v any) error {
	if err := strictjson.Decode(settings, v, ""); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

func CheckAtLeast(least int, key string, values ...int) error {
	for _, v := range values {
		if v < least {
			return fmt.Errorf("settings: %s: %d: at least %d is needed", key, v, least)
		}
	}
	return nil
}

type Variant struct {
	Name string `json:"name"`
	engine.Config
}

// Variants reads methods {"name": …, "method": …, further settings} over the common settings; they
// share no memory.
func Variants(common engine.Config, methods []json.RawMessage) ([]Variant, error) {
	var out []Variant
	for _, text := range methods {
		v := Variant{Config: common}
		v.Imputer.Options = slices.Clone(common.Imputer.Options)
		if common.WarmUp != nil {
			v.WarmUp = new(*common.WarmUp)
		}
		if err := Decode(text, &v); err != nil {
			return nil, err
		}
		if _, err := estimator.ByName(v.Method); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		if v.Name == "" {
			v.Name = v.Method
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, errors.New("settings: there are no methods")
	}
	return out, nil
}
