// Package harness runs grids of cells. Each finished cell is a line of a CSV file, so an interrupted
// run continues with the missing cells.
package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/internal/strictjson"
	"missingscore/internal/trainers/engine"
)

// ErrAbsent: the table or program of a cell is not installed; other cells still run.
var ErrAbsent = errors.New("not found")

type Experiment struct {
	Name     string // as in "run NAME"
	Title    string
	Source   string // section and figure of the paper, or a page of this project
	Settings []byte // {"full": {…}, "smoke": {…}}; "ours" lists the settings that the paper does not state

	// Grid returns the cells for one size of settings, without reading data. Key columns are the
	// setting, then replicate, then method.
	Grid func(settings json.RawMessage, replicates int) (Grid, error)
}

// Of returns the Grid of an experiment with settings S, which must have all fields of its file.
func Of[S any](list func(s S, replicates int) (Grid, error)) func(json.RawMessage, int) (Grid, error) {
	return func(text json.RawMessage, replicates int) (Grid, error) {
		var s S
		if err := Decode(text, &s); err != nil {
			return Grid{}, err
		}
		return list(s, replicates)
	}
}

// Decode fails on fields that v does not have.
func Decode(settings json.RawMessage, v any) error {
	if err := strictjson.Decode(settings, v, ""); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

type Grid struct {
	Key, Value []string // column names
	Cells      []Cell
	Files      []string // tables that all cells need
}

// Cell is one run of a grid. Key identifies it; Run returns the value columns and may be called
// concurrently with other cells.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Name is the key as --cell takes it.
func (c Cell) Name() string { return strings.Join(c.Key, ",") }

// Add appends a cell; key holds strings and numbers.
func (g *Grid) Add(run func(context.Context) ([]string, error), key ...any) {
	c := Cell{Run: run}
	for _, k := range key {
		c.Key = append(c.Key, fmt.Sprint(k))
	}
	g.Cells = append(g.Cells, c)
}

func (g Grid) Columns() []string { return slices.Concat(g.Key, g.Value) }

func (g Grid) Check() error {
	seen := map[string]bool{}
	for _, c := range g.Cells {
		if seen[c.Name()] {
			return fmt.Errorf("settings: two cells are called %s (%s)", c.Name(), strings.Join(g.Key, ","))
		}
		seen[c.Name()] = true
	}
	if len(seen) == 0 {
		return errors.New("settings: there are no cells")
	}
	return nil
}

// Present fails with ErrAbsent if a file is missing.
func (g Grid) Present() error {
	for _, path := range g.Files {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %w; set %s to the folder that holds %s", ErrAbsent, err, FolderVariable, filepath.Base(path))
		}
	}
	return nil
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

type Variant struct {
	Name string `json:"name"`
	engine.Config
}

// Variants reads methods {"name": …, "method": …, further settings} over the common settings.
func Variants(common json.RawMessage, methods []json.RawMessage) ([]Variant, error) {
	var out []Variant
	for _, text := range methods {
		var v Variant
		if err := cmp.Or(Decode(common, &v), Decode(text, &v)); err != nil {
			return nil, err
		}
		v.Name = cmp.Or(v.Name, v.Method)
		out = append(out, v)
	}
	return out, nil
}
