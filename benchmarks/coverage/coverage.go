// Package coverage shows how often intervals of partial correlations cover the truth, of
// tables with missing cells, of edges and of pairs without one; whether p values of these are
// uniform, and how many of the pairs that are called edges are none.
package coverage

import (
	"cmp"
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
	"missingscore/trainers/inference"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each design, number of columns and of rows, law of hiding,
// replicate, method and kind of inference.
var Experiment = harness.Experiment{
	Name: "coverage", Title: "Coverage of intervals", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings are one size of config.json.
type settings struct {
	Replicates int        `json:"replicates"`
	Laws       []gaps.Law `json:"laws"`
	Designs    []design   `json:"designs"`
	Discovery  float64    `json:"discovery"` // rate at which pairs are called edges
	Ours       []string   `json:"ours"`
}

// design is a kind of rows, with what is tried on it.
type design struct {
	Name    string   `json:"name"`
	Rows    string   `json:"rows"` // normal, t5: with as many degrees of freedom, or truncated: a third of the columns cut off below their 20 % quantiles
	Columns []int    `json:"columns"`
	Numbers []int    `json:"numbers"` // of rows
	Laws    []string `json:"laws"`
	Method  string   `json:"method"`
	Kinds   []string `json:"kinds"` // of inference
}

// setting is a design with everything chosen.
type setting struct {
	design
	columns, rows int
	law           gaps.Law
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
	for _, d := range s.Designs {
		if err = d.check(s.Laws); err != nil {
			return s, fmt.Errorf("settings: design %q: %w", d.Name, err)
		}
	}
	return s, harness.CheckShares("discovery", s.Discovery)
}

func (d design) check(laws []gaps.Law) error {
	if !slices.Contains([]string{"normal", "t5", "truncated"}, d.Rows) {
		return fmt.Errorf("rows %q: they are normal, t5 or truncated", d.Rows)
	}
	for _, name := range d.Laws {
		if !slices.ContainsFunc(laws, func(l gaps.Law) bool { return l.Name == name }) {
			return fmt.Errorf("there is no law %q", name)
		}
	}
	for _, kind := range d.Kinds {
		if c, err := inference.Parse(kind); err != nil || !c.Asked() {
			return cmp.Or(err, fmt.Errorf("kind %q infers nothing", kind))
		}
	}
	return cmp.Or(harness.CheckAtLeast(3, "columns", d.Columns...), harness.CheckAtLeast(2, "numbers", d.Numbers...))
}

// settings visits what is tried, in order.
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

// Columns of the results.
const (
	designColumn     = "design"
	columnsColumn    = "columns"
	rowsColumn       = "rows"
	lawColumn        = "law"
	kindColumn       = "method"         // a kind of inference
	edgesColumn      = "edges"          // true ones
	edgeCoverColumn  = "edges_covered"  // share of them whose interval covers
	otherCoverColumn = "others_covered" // share of the other pairs
	edgeErrorColumn  = "edge_error"     // root mean square of estimate less truth, edges
	otherErrorColumn = "other_error"
	edgeSEColumn     = "edge_se" // root mean square of standard errors
	otherSEColumn    = "other_se"
	biasColumn       = "edge_bias" // mean over edges of sign(ρ)(ρ̃ − ρ)
	nullColumn       = "null_p"    // p value of the first pair without an edge
	foundColumn      = "found"     // pairs whose q is small
	falseColumn      = "false"     // share of them without an edge
	warnedColumn     = "warned"    // 1 where the program warned of its intervals
	secondsColumn    = "seconds"   // of the inference alone
	pathColumn       = "path_seconds"
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{designColumn, lawColumn, columnsColumn, rowsColumn, "replicate", kindColumn},
		Value: []string{edgesColumn, edgeCoverColumn, otherCoverColumn, edgeErrorColumn, otherErrorColumn, edgeSEColumn, otherSEColumn, biasColumn, nullColumn, foundColumn, falseColumn, warnedColumn, secondsColumn, pathColumn},
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

// number writes one, "-" for none.
func number(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
