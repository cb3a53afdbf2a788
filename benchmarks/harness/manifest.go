package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/internal/atomicfile"
	"missingscore/internal/strictjson"
)

// cellsFile holds an experiment's finished cells, one a line, in the order of the grid
// when the run is over. A shard has a file of its own.
const (
	cellsFile    = "cells.csv"
	shardPattern = "cells-%d-of-%d.csv"
	runFile      = "run.json"

	replicateColumn = "replicate" // of every grid's key
)

// manifest is what a folder of results came from.
type manifest struct {
	Experiment string          `json:"experiment"`
	Size       string          `json:"size"`
	Replicates int             `json:"replicates"`
	Settings   json.RawMessage `json:"settings"`
}

// mostReplicates are far more than any experiment needs, and few enough that memory holds a list
// of their cells.
const mostReplicates = 100_000

// newManifest reads the settings of the size that is asked for.
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
	m := manifest{Experiment: e.Name, Size: size, Settings: settings, Replicates: o.Replicates}
	if o.Config != nil {
		m.Size += ", own settings"
	}
	if m.Settings == nil {
		return manifest{}, fmt.Errorf("settings: there is no %q among them", size)
	}
	if m.Replicates == 0 {
		var s struct{ Replicates int }
		if err := json.Unmarshal(m.Settings, &s); err != nil {
			return manifest{}, fmt.Errorf("settings: %w", strictjson.Plainly(err))
		}
		m.Replicates = s.Replicates
	}
	if m.Replicates < 1 {
		return manifest{}, fmt.Errorf("%d replicates: at least one is needed, in the settings or asked for", m.Replicates)
	}
	if m.Replicates > mostReplicates {
		return manifest{}, fmt.Errorf("%d replicates: at most %d are possible, whose cells are all listed first", m.Replicates, mostReplicates)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, m.Settings); err != nil {
		return manifest{}, fmt.Errorf("settings: %w", strictjson.Plainly(err))
	}
	m.Settings = compact.Bytes()
	return m, nil
}

// grid is the experiment's.
func (m manifest) grid(e Experiment) (cells.Grid, error) {
	g, err := e.Grid(m.Settings, m.Replicates)
	if err != nil {
		return g, err
	}
	if err := g.Check(); err != nil {
		return g, fmt.Errorf("settings: %w", err)
	}
	return g, nil
}

// same says how two runs differ other than in their replicates and in what is called ours.
func (m manifest) same(other manifest, dir string) error {
	if m.Experiment != other.Experiment || m.Size != other.Size || !maps.EqualFunc(m.values(), other.values(), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return fmt.Errorf("%s is of a %s run of %s with other settings: choose another folder", dir, m.Size, m.Experiment)
	}
	return nil
}

// values are the settings that cells depend on.
func (m manifest) values() (values map[string]json.RawMessage) {
	if json.Unmarshal(m.Settings, &values) != nil {
		return nil // read has refused it already, or Grid will
	}
	delete(values, "ours")
	return values
}

func (m manifest) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, runFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false) // the settings are compared to the byte when the run goes on
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
	var compact bytes.Buffer
	if err := json.Compact(&compact, m.Settings); err != nil {
		return m, fmt.Errorf("%s: %w", path, strictjson.Plainly(err))
	}
	m.Settings = compact.Bytes()
	return m, nil
}

// finished are the lines of all files of cells in a folder, and the last replicate among them.
func finished(dir string, grid cells.Grid) (lines [][]string, last int, err error) {
	files, err := fs.Glob(os.DirFS(dir), "cells*.csv")
	if err != nil {
		return nil, 0, err
	}
	at := slices.Index(grid.Key, replicateColumn)
	for _, file := range files {
		path := filepath.Join(dir, file)
		more, err := cells.ReadLines(path, grid.Columns())
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
