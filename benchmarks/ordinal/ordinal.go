// Package ordinal measures how near networks of a five-point questionnaire with missing answers
// come to the partial correlations of the numbers behind the answers: by ordered categories, with
// the codes taken for numbers, by polychoric correlations of pairs, and by those of R's lavaan with
// a graphical lasso.
package ordinal

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/trainers/estimator"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each truth, number of rows, law of gaps, replicate and method.
var Experiment = harness.Experiment{
	Name: "ordinal", Title: "A questionnaire of ordered categories", Source: "benchmarks/ordinal/README.md",
	Settings: config, Grid: grid, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int        `json:"replicates"`
	Truths     []string   `json:"truths"`     // names of truths
	Rows       []int      `json:"rows"`       //
	Laws       []gaps.Law `json:"laws"`       // of missing answers
	Thresholds []float64  `json:"thresholds"` // between answers, of a standard normal
	Methods    []method   `json:"methods"`
	Ours       []string   `json:"ours"`
}

// method is an estimator of this program, on ordered categories or on their codes, or R's.
type method struct {
	Name    string `json:"name"`
	Method  string `json:"method"`  // of network; "" for R's
	Fit     bool   `json:"fit"`     // of fit in its place: no penalty, every pair is an edge
	Ordinal bool   `json:"ordinal"` // the columns are of ordered categories
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, name := range s.Truths {
		if _, ok := truths[name]; !ok {
			return s, fmt.Errorf("settings: there is no truth %q", name)
		}
	}
	for _, n := range s.Rows {
		if err = harness.CheckAtLeast(20, "rows", n); err != nil {
			return s, err
		}
	}
	for _, law := range s.Laws {
		if err = law.Check(); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	if !slices.IsSorted(s.Thresholds) || len(s.Thresholds) == 0 {
		return s, fmt.Errorf("settings: thresholds: %v: they must increase", s.Thresholds)
	}
	for _, m := range s.Methods {
		if m.Method == "" {
			continue
		}
		if _, err = estimator.ByName(m.Method); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	return s, cmp.Or(harness.CheckAtLeast(1, "truths", len(s.Truths)), harness.CheckAtLeast(1, "methods", len(s.Methods)))
}

// Columns of the results.
const (
	truthColumn   = "truth"
	rowsColumn    = "rows"
	lawColumn     = "law"
	errorColumn   = "error"   // root mean square over pairs, of the network's partial correlations
	biasColumn    = "bias"    // mean over the pairs that are not 0 of how much larger in size, towards their own sign
	f1Column      = "f1"      // of edges, where the truth has pairs without; else -
	edgesColumn   = "edges"   // of the network
	secondsColumn = "seconds" // of the whole estimate; of R with its start
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{truthColumn, rowsColumn, lawColumn, "replicate", "method"},
		Value: []string{errorColumn, biasColumn, f1Column, edgesColumn, secondsColumn},
		Clock: []string{secondsColumn},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, truth := range s.Truths {
			for _, n := range s.Rows {
				for _, law := range s.Laws {
					for _, m := range s.Methods {
						g.Cells = append(g.Cells, cells.Cell{
							Key: []string{truth, strconv.Itoa(n), law.Name, strconv.Itoa(replicate), m.Name},
							Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, truth, n, law, m, uint64(replicate)) },
						})
					}
				}
			}
		}
	}
	return g, nil
}
