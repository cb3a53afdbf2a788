// Package scale measures seconds, memory and accuracy of paths of networks for growing tables, for this
// program and rivals.
package scale

import (
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
	"missingscore/trainers/regpath"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "scale", Title: "Seconds and memory as tables grow", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings of one size in config.json.
type settings struct {
	Replicates int      `json:"replicates"`
	Lambdas    int      `json:"lambdas"` // for each path
	Ratio      float64  `json:"ratio"`   // largest over smallest λ
	Sizes      []size   `json:"sizes"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

// size of a table.
type size struct {
	Columns    int      `json:"columns"`
	Rows       int      `json:"rows"`
	Missing    float64  `json:"missing"` // share of the cells, MCAR
	Ratio      float64  `json:"ratio"`   // largest over smallest λ; 0: settings.Ratio
	Methods    []string `json:"methods"`
	Replicates int      `json:"replicates"` // maximum; 0: all
	Accuracy   bool     `json:"accuracy"`   // also measure the distance of paths from their limits
}

// method is an estimator of this program, or the rival Peer.
type method struct {
	Name string         `json:"name"`
	Peer string         `json:"peer"`
	Fit  engine.Config  `json:"fit"`
	Path regpath.Config `json:"path"`

	Stop  []float64 `json:"stop"`  // tolerances: stop_tol of ours (empty: the default), thr.em and thr.bcd of cglasso
	Limit []float64 `json:"limit"` // tolerances of the converged path, for accuracy

	Lambdas int     `json:"lambdas"` // 0: settings.Lambdas
	Ratio   float64 `json:"ratio"`   // 0: settings.Ratio
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, m := range s.Methods {
		if m.Peer != "" && peers[m.Peer] == nil {
			return s, fmt.Errorf("settings: there is no peer %q", m.Peer)
		}
	}
	for _, z := range s.Sizes {
		for _, name := range z.Methods {
			if !slices.ContainsFunc(s.Methods, func(m method) bool { return m.Name == name }) {
				return s, fmt.Errorf("settings: there is no method %q", name)
			}
		}
	}
	return s, nil
}

// grid's value columns: best_f1 is the highest F1 of a network of the path, points the λ that the program
// reached, edges the size of the last network, away the largest difference of a partial correlation
// from the limit, seconds those of the path alone, megabytes the growth of the resident set.
func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"auc", "best_f1", "points", "edges", "away", "seconds", "megabytes", "processors"},
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
					Key: []string{strconv.Itoa(z.Columns), strconv.Itoa(z.Rows), strconv.FormatFloat(z.Missing, 'g', -1, 64), strconv.Itoa(replicate), m.Name},
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
