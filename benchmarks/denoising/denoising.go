// Package denoising fits models of noisy rows to an incomplete table by denoising score
// matching, draws rows from them by the reverse-time equation, and compares these with
// rows that were held out: Sachs et al.'s proteins, of which cells are hidden at random.
package denoising

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each replicate and method.
var Experiment = harness.Experiment{
	Name: "denoising", Title: "Rows drawn from denoising models of an incomplete table", Source: "benchmarks/denoising/README.md",
	Settings: config, Grid: grid, Figures: draw, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int             `json:"replicates"`
	Folder     string          `json:"folder"` // of the table; empty: as the environment says (harness.FolderVariable)
	Table      string          `json:"table"`
	Columns    []string        `json:"columns"`
	Rows       int             `json:"rows"` // to fit
	Held       int             `json:"held"` // to compare with, and of a second part, the floor
	Missing    float64         `json:"missing"`
	Epochs     int             `json:"epochs"`
	Rate       float64         `json:"rate"`
	Steps      int             `json:"steps"` // of the reverse-time equation
	Fit        engine.Config   `json:"fit"`   // what the methods have in common
	Network    json.RawMessage `json:"network"`
	Noise      json.RawMessage `json:"noise"`
	Methods    []method        `json:"methods"`
	Shown      shown           `json:"shown"`
	Ours       []string        `json:"ours"`
}

// method is how a model is learned; the floor, rows held out against others, has none.
type method struct {
	Name   string `json:"name"`
	Model  string `json:"model"`
	Method string `json:"method"`
}

// shown are the rows in the picture, those of the first replicate: each method's so many
// first ones, in each pair of columns.
type shown struct {
	Rows    int         `json:"rows"`
	Methods []string    `json:"methods"`
	Pairs   [][2]string `json:"pairs"`
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, m := range s.Methods {
		if m.Model != "" {
			if _, err = estimator.ByName(m.Method); err != nil {
				return s, fmt.Errorf("settings: %w", err)
			}
		}
	}
	for _, pair := range s.Shown.Pairs {
		for _, c := range pair {
			if !slices.Contains(s.Columns, c) {
				return s, fmt.Errorf("settings: shown: %q is none of the columns", c)
			}
		}
	}
	return s, cmp.Or(harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(2, "held", s.Held), harness.CheckAtLeast(1, "steps", s.Steps),
		harness.CheckShares("missing", s.Missing), harness.CheckTraining(s.Epochs, s.Rate))
}

// path is where the table is looked for.
func (s settings) path() string { return harness.DataPath(s.Folder, s.Table) }

// Columns of the results.
const (
	sizeColumn        = "effective_size"
	ksColumn          = "ks"
	worstColumn       = "worst_ks"
	correlationColumn = "correlation"
	pairsColumn       = "pairs"
	energyColumn      = "energy_distance"
	rowsColumn        = "rows" // of the first replicate, see shown
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:     []string{"replicate", "method"},
		Value:   []string{sizeColumn, ksColumn, worstColumn, correlationColumn, pairsColumn, energyColumn, rowsColumn},
		Present: func() error { return harness.Present(s.path()) },
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, m := range s.Methods {
			g.Cells = append(g.Cells, cells.Cell{
				Key: []string{strconv.Itoa(replicate), m.Name},
				Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, m, uint64(replicate)) },
			})
		}
	}
	return g, nil
}
