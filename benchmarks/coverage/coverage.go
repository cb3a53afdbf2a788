// Package coverage measures the coverage of intervals of partial correlations, the p values of pairs
// without an edge, and false discoveries, on tables with missing cells.
package coverage

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each design, law, size, replicate and kind of inference.
var Experiment = harness.Experiment{
	Name: "coverage", Title: "Coverage of intervals", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings of one size in config.json.
type settings struct {
	Replicates int        `json:"replicates"`
	Laws       []gaps.Law `json:"laws"`
	Designs    []design   `json:"designs"`
	Discovery  float64    `json:"discovery"` // false discovery rate
	Ours       []string   `json:"ours"`
}

// design is a distribution of rows with the sizes and methods tried on it.
type design struct {
	Name    string   `json:"name"`
	Rows    string   `json:"rows"` // normal, t5 (Student, 5 degrees of freedom) or truncated (a third of the columns below their 20 % quantiles)
	Columns []int    `json:"columns"`
	Numbers []int    `json:"numbers"` // numbers of rows
	Laws    []string `json:"laws"`
	Method  string   `json:"method"`
	Kinds   []string `json:"kinds"` // kinds of inference
}

// setting is a design with one size and law.
type setting struct {
	design
	columns, rows int
	law           gaps.Law
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, d := range s.Designs {
		if !slices.Contains([]string{"normal", "t5", "truncated"}, d.Rows) {
			return s, fmt.Errorf("settings: design %q: rows %q: choose normal, t5 or truncated", d.Name, d.Rows)
		}
		for _, name := range d.Laws {
			if !slices.ContainsFunc(s.Laws, func(l gaps.Law) bool { return l.Name == name }) {
				return s, fmt.Errorf("settings: design %q: there is no law %q", d.Name, name)
			}
		}
	}
	return s, nil
}

// each visits the settings in order.
func (s settings) each(visit func(setting)) {
	for _, d := range s.Designs {
		for _, law := range s.Laws {
			if !slices.Contains(d.Laws, law.Name) {
				continue
			}
			for _, columns := range d.Columns {
				for _, rows := range d.Numbers {
					visit(setting{d, columns, rows, law})
				}
			}
		}
	}
}

// grid's value columns:
//
//	edges                         true edges
//	edges_covered, others_covered share of edges, and of other pairs, that the interval covers
//	edge_error, other_error       root mean square of estimate − truth
//	edge_se, other_se             root mean square of the standard errors
//	edge_bias                     mean over edges of sign(ρ)(ρ̂ − ρ)
//	null_p                        p value of the first pair without an edge
//	found, false                  pairs with a small q, and the share of them without an edge
//	warned                        1 if the inference gave a warning
//	seconds, path_seconds         of the inference, and of the path before
func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key: []string{"design", "law", "columns", "rows", "replicate", "method"},
		Value: []string{"edges", "edges_covered", "others_covered", "edge_error", "other_error", "edge_se", "other_se", "edge_bias",
			"null_p", "found", "false", "warned", "seconds", "path_seconds"},
	}
	type place struct {
		design, law              string
		columns, rows, replicate int
	}
	recent := harness.NewRecentCache[place, map[string][]string](8)
	for replicate := 1; replicate <= replicates; replicate++ {
		s.each(func(c setting) {
			for _, kind := range c.Kinds {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{c.Name, c.law.Name, strconv.Itoa(c.columns), strconv.Itoa(c.rows), strconv.Itoa(replicate), kind},
					Run: func(ctx context.Context) ([]string, error) {
						all, err := recent.Get(place{c.Name, c.law.Name, c.columns, c.rows, replicate}, func() (map[string][]string, error) {
							return c.run(ctx, s.Discovery, uint64(replicate))
						})
						return all[kind], err
					},
				})
			}
		})
	}
	return g, nil
}

// number formats x; NaN is "-".
func number(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
