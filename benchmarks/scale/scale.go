// Package scale measures what a path of networks costs as tables grow: seconds and memory of
// this program's methods and of other programs', on the same tables with known networks, and
// how well each path finds these.
package scale

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/regpath"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each size of table, replicate and method.
var Experiment = harness.Experiment{
	Name: "scale", Title: "Seconds and memory as tables grow", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings are one size of config.json.
type settings struct {
	Replicates int      `json:"replicates"`
	Lambdas    int      `json:"lambdas"` // of each path
	Ratio      float64  `json:"ratio"`   // largest to smallest λ
	Sizes      []size   `json:"sizes"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

// size of a table: cells are missing completely at random.
type size struct {
	Columns    int      `json:"columns"`
	Rows       int      `json:"rows"`
	Missing    float64  `json:"missing"` // share of the cells
	Ratio      float64  `json:"ratio"`   // largest to smallest λ, where not that of all; 0: that
	Methods    []string `json:"methods"`
	Replicates int      `json:"replicates"` // where less than those of all; 0: all
	Accuracy   bool     `json:"accuracy"`   // how far paths are from their limits is measured, too, where a method has one
}

// method is an estimator of this program, or a peer: the name of one in another language.
type method struct {
	Name string         `json:"name"`
	Peer string         `json:"peer"`
	Fit  engine.Config  `json:"fit"`
	Path regpath.Config `json:"path"`

	// Stop are the stopping rules, as the program takes them: one of ours has stop_tol (none given:
	// the default), cglasso has thr.em and thr.bcd, the others none.
	Stop []float64 `json:"stop"`

	Lambdas int     `json:"lambdas"` // where not those of all
	Ratio   float64 `json:"ratio"`

	// Limit are such with which the path has come to its end, for accuracy.
	Limit []float64 `json:"limit"`
}

// stops is how many stopping rules a method has.
func (m method) stops() int {
	if m.Peer == "" {
		return 1
	}
	return peers[m.Peer].stops
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	if !(s.Ratio > 1) {
		return s, fmt.Errorf("settings: ratio: %v: it must be above 1", s.Ratio)
	}
	if err = harness.CheckAtLeast(2, "lambdas", s.Lambdas); err != nil {
		return s, err
	}
	for _, m := range s.Methods {
		if err = m.check(); err != nil {
			return s, err
		}
	}
	for _, z := range s.Sizes {
		if err = s.check(z); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (m method) check() error {
	if m.Peer == "" {
		if _, err := estimator.ByName(m.Fit.Method); err != nil {
			return fmt.Errorf("settings: %w", err)
		}
	} else if _, ok := peers[m.Peer]; !ok {
		return fmt.Errorf("settings: there is no peer %q", m.Peer)
	}
	if len(m.Stop) != m.stops() && (m.Peer != "" || len(m.Stop) > 0) {
		return fmt.Errorf("settings: %s: stop: %d numbers, it takes %d", m.Name, len(m.Stop), m.stops())
	}
	if len(m.Limit) != 0 && len(m.Limit) != m.stops() {
		return fmt.Errorf("settings: %s: limit: %d numbers, it takes %d", m.Name, len(m.Limit), m.stops())
	}
	return nil
}

func (s settings) check(z size) error {
	for _, name := range z.Methods {
		if !slices.ContainsFunc(s.Methods, func(m method) bool { return m.Name == name }) {
			return fmt.Errorf("settings: there is no method %q", name)
		}
	}
	if z.Ratio != 0 && !(z.Ratio > 1) {
		return fmt.Errorf("settings: ratio: %v: it must be above 1", z.Ratio)
	}
	return cmp.Or(harness.CheckAtLeast(3, "columns", z.Columns), harness.CheckAtLeast(2, "rows", z.Rows),
		harness.CheckAtLeast(0, "replicates", z.Replicates), harness.CheckShares("missing", z.Missing))
}

// Columns of the results.
const (
	columnsColumn    = "columns"
	rowsColumn       = "rows"
	missingColumn    = "missing"
	aucColumn        = "auc"        // of the path's networks
	bestColumn       = "best_f1"    // of these
	pointsColumn     = "points"     // λ that the program reached
	edgesColumn      = "edges"      // of the last network
	awayColumn       = "away"       // largest difference of a partial correlation from the path's limit; - where it was not asked for
	secondsColumn    = "seconds"    // of the path alone: no reading, no start of an interpreter
	memoryColumn     = "megabytes"  // resident at most, above what there was before; - where the system does not tell
	processorsColumn = "processors" // that the program may use
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{columnsColumn, rowsColumn, missingColumn, "replicate", "method"},
		Value: []string{aucColumn, bestColumn, pointsColumn, edgesColumn, awayColumn, secondsColumn, memoryColumn, processorsColumn},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, z := range s.Sizes {
			if z.Replicates > 0 && replicate > z.Replicates {
				continue
			}
			for _, m := range s.Methods {
				if !slices.Contains(z.Methods, m.Name) {
					continue
				}
				g.Cells = append(g.Cells, cells.Cell{
					Key: append(z.key(), strconv.Itoa(replicate), m.Name),
					Run: func(ctx context.Context) ([]string, error) {
						values, err := s.run(ctx, z, m, uint64(replicate))
						return append(values, strconv.Itoa(runtime.GOMAXPROCS(0))), err
					},
				})
			}
		}
	}
	return g, nil
}

// key is the part of a cell's key that says the size.
func (z size) key() []string {
	return []string{strconv.Itoa(z.Columns), strconv.Itoa(z.Rows), strconv.FormatFloat(z.Missing, 'g', -1, 64)}
}
