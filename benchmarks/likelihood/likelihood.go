// Package likelihood compares Marg-Exact with penalised likelihood (EM around R's
// glasso, emglasso.R) on the same tables: star networks with hidden cells.
package likelihood

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers/path"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each size of a network, replicate and method. Those of the
// rival need R.
var Experiment = harness.Experiment{
	Name: "likelihood", Title: "Against likelihood", Source: "benchmarks/likelihood/README.md",
	Settings: config, Grid: grid, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int         `json:"replicates"`
	Networks   []star      `json:"networks"`
	Rows       int         `json:"rows"`
	Lambdas    int         `json:"lambdas"`
	Ratio      float64     `json:"ratio"`   // smallest λ over the largest
	Repeats    int         `json:"repeats"` // runs of Marg-Exact, of which the fastest is told
	Path       path.Config `json:"path"`    // of Marg-Exact
	Ours       []string    `json:"ours"`
}

// star is a network with hidden cells.
type star struct {
	Columns int     `json:"columns"`
	Missing float64 `json:"missing"`
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, n := range s.Networks {
		if err = cmp.Or(harness.CheckAtLeast(3, "columns", n.Columns), harness.CheckShares("missing", n.Missing)); err != nil {
			return s, err
		}
	}
	if !(0 < s.Ratio && s.Ratio < 1) {
		return s, fmt.Errorf("settings: ratio: %v: it must be between 0 and 1", s.Ratio)
	}
	return s, cmp.Or(harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(2, "lambdas", s.Lambdas), harness.CheckAtLeast(1, "repeats", s.Repeats))
}

// Columns of the results.
const (
	columnsColumn    = "columns"
	missingColumn    = "missing"
	aucColumn        = "auc"
	iterationsColumn = "iterations" // of the rival: of EM
	edgesColumn      = "last_edges"
	secondsColumn    = "seconds"
)

// Methods.
const (
	exact = "exact"
	rival = "glasso"
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{columnsColumn, missingColumn, "replicate", "method"},
		Value: []string{aucColumn, iterationsColumn, edgesColumn, secondsColumn},
		Clock: []string{secondsColumn},
	}
	for _, n := range s.Networks {
		for replicate := 1; replicate <= replicates; replicate++ {
			for _, method := range []string{exact, rival} {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{strconv.Itoa(n.Columns), strconv.FormatFloat(n.Missing, 'g', -1, 64), strconv.Itoa(replicate), method},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, n, method, uint64(replicate)) },
				})
			}
		}
	}
	return g, nil
}

// result is one path.
type result struct {
	seconds, auc      float64
	iterations, edges int
}

// run is one cell.
func (s settings) run(ctx context.Context, n star, method string, seed uint64) ([]string, error) {
	truth, table, err := tableOf(n.Columns, s.Rows, n.Missing, seed)
	if err != nil {
		return nil, err
	}
	var best result
	if method == exact {
		best, err = s.fastest(ctx, table, truth)
	} else {
		best, err = s.likelihood(ctx, table, truth)
	}
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%.4f", best.auc), strconv.Itoa(best.iterations), strconv.Itoa(best.edges), fmt.Sprintf("%.2f", best.seconds)}, nil
}

// tableOf is the star benchmark's table.
func tableOf(d, n int, missing float64, seed uint64) (simulate.Gaussian, *data.Table, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := simulate.Star(d, rng)
	if err != nil {
		return truth, nil, err
	}
	table, err := truth.Sample(n, rng)
	if err != nil {
		return truth, nil, err
	}
	table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide))
	return truth, table, err
}
