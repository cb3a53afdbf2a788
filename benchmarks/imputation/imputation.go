// Package imputation hides cells of real and simulated tables, completely at random and
// at random, fills them in by several methods, this project's and others', and compares
// what is drawn with what was hidden.
package imputation

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each table, law of hiding, replicate and method. Those of
// other languages need their interpreters and packages, those of real tables the files.
var Experiment = harness.Experiment{
	Name: "imputation", Title: "Filling in cells", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings are one size of config.json.
type settings struct {
	Replicates int        `json:"replicates"`
	Folder     string     `json:"folder"` // of the real tables; empty: as the environment says (harness.FolderVariable)
	Tables     []table    `json:"tables"`
	Laws       []gaps.Law `json:"laws"`
	Draws      int        `json:"draws"` // of each hidden cell
	Methods    []method   `json:"methods"`
	Ours       []string   `json:"ours"`
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, l := range s.Laws {
		if err = l.Check(); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	var names []string
	for _, t := range s.Tables {
		if err = t.check(); err != nil {
			return s, fmt.Errorf("settings: table %q: %w", t.Name, err)
		}
		names = append(names, t.Name)
	}
	for _, m := range s.Methods {
		if err = m.check(names); err != nil {
			return s, fmt.Errorf("settings: method %q: %w", m.Name, err)
		}
	}
	return s, cmp.Or(harness.CheckAtLeast(2, "draws", s.Draws), harness.CheckAtLeast(1, "laws", len(s.Laws)))
}

// Columns of the results. The numbers are per hidden cell, in standard deviations of its
// column.
const (
	tableColumn    = "table"
	lawColumn      = "law"
	hiddenColumn   = "hidden" // cells
	rmseColumn     = "rmse"
	energyColumn   = "energy_score"
	coverageColumn = "coverage"
	secondsColumn  = "seconds"
	versionColumn  = "version" // of what is not this program
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{tableColumn, lawColumn, "replicate", "method"},
		Value: []string{hiddenColumn, rmseColumn, energyColumn, coverageColumn, secondsColumn, versionColumn},
	}
	for replicate := 1; replicate <= replicates; replicate++ { // all tables early, however few replicates there is time for
		for _, t := range s.Tables {
			if t.File != "" {
				t.path = harness.DataPath(s.Folder, t.File)
			}
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					if m.Tables != nil && !slices.Contains(m.Tables, t.Name) {
						continue
					}
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{t.Name, law.Name, strconv.Itoa(replicate), m.Name},
						Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, t, law, m, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}

// run is one cell. A method that leaves cells empty, or cannot be fitted to a table, has
// no numbers.
func (s settings) run(ctx context.Context, from table, law gaps.Law, m method, seed uint64) ([]string, error) {
	whole, support, err := from.rows(seed)
	if err != nil {
		return nil, err
	}
	t, err := law.Hide(whole, seed)
	if err != nil {
		return nil, err
	}
	hidden := strconv.Itoa(t.Missing() - whole.Missing())
	filled, seconds, version, err := m.timed(ctx, task{table: t, support: support, draws: s.Draws, seed: seed})
	switch {
	case errors.Is(err, errNone):
		return []string{hidden, "-", "-", "-", seconds, version}, nil
	case err != nil:
		return nil, err
	}
	e := measure(whole, t, filled)
	coverage := "-"
	if filled.drawn() {
		coverage = fmt.Sprintf("%.5f", e.coverage)
	}
	return []string{hidden, fmt.Sprintf("%.6f", e.rmse), fmt.Sprintf("%.6f", e.energy), coverage, seconds, version}, nil
}
