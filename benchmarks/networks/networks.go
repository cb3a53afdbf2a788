// Package networks compares score matching and likelihood for Gaussian networks from tables with
// missing cells. The default method rests on its tables.
package networks

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers/estimator"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "networks", Title: "Networks by each method", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

type settings struct {
	Replicates int              `json:"replicates"`
	Laws       []gaps.Law       `json:"laws"`
	Networks   []kind           `json:"networks"`
	Methods    []method         `json:"methods"`
	Path       regpath.Config   `json:"path"`       // of score matching
	Likelihood emglasso.Options `json:"likelihood"` // of the peers, columns standardised
	Ours       []string         `json:"ours"`
}

type kind struct {
	Name    string   `json:"name"`
	Graph   string   `json:"graph"` // star, or random: of random edges and signs
	Columns int      `json:"columns"`
	Rows    int      `json:"rows"`
	Below   int      `json:"below"` // so many columns are cut off below their 20 % quantiles; 0: all of R^d
	Laws    []string `json:"laws"`
	Methods []string `json:"methods"`
}

// method is an estimator; or "glasso", the EM of package emglasso, or "cglasso", R's.
type method struct {
	Name    string           `json:"name"`
	Ignore  bool             `json:"ignore"`            // the truncation
	Penalty *regpath.Penalty `json:"penalty,omitempty"` // its own; nil: that of the path
	Fit     engine.Config    `json:"fit"`
}

const (
	ownEM   = "glasso"
	cglasso = "cglasso"
)

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, l := range s.Laws {
		if err = l.Check(); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	for _, m := range s.Methods {
		if m.Fit.Method == ownEM || m.Fit.Method == cglasso {
			continue
		}
		if _, err = estimator.ByName(m.Fit.Method); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	for _, k := range s.Networks {
		if err = s.check(k); err != nil {
			return s, fmt.Errorf("settings: network %q: %w", k.Name, err)
		}
	}
	return s, s.Likelihood.Check()
}

func (s settings) check(k kind) error {
	if k.Graph != "star" && k.Graph != "random" {
		return fmt.Errorf("graph %q: it is star or random", k.Graph)
	}
	for _, name := range k.Laws {
		if !slices.ContainsFunc(s.Laws, func(l gaps.Law) bool { return l.Name == name }) {
			return fmt.Errorf("there is no law %q", name)
		}
	}
	for _, name := range k.Methods {
		if !slices.ContainsFunc(s.Methods, func(m method) bool { return m.Name == name }) {
			return fmt.Errorf("there is no method %q", name)
		}
	}
	return cmp.Or(harness.CheckAtLeast(3, "columns", k.Columns), harness.CheckAtLeast(2, "rows", k.Rows), harness.CheckAtLeast(0, "below", k.Below))
}

const (
	networkColumn   = "network"
	lawColumn       = "law"
	aucColumn       = "auc"
	bestColumn      = "best_f1"         // of the path's networks
	chosenColumn    = "f1"              // of the network at the λ that EBIC chooses
	edgesColumn     = "edges"           // of that network
	errorColumn     = "frobenius"       // ‖P̂ − P‖ / ‖P‖ there
	leastColumn     = "least_frobenius" // along the path
	edgeBiasColumn  = "edge_bias"       // there: mean over true edges of sign(ρ) (ρ̂ − ρ), of partial correlations
	otherBiasColumn = "other_bias"      // and of |ρ̂| over the other pairs
	signColumn      = "wrong_signs"     // share of the true edges whose ρ̂ has the other sign
	secondsColumn   = "seconds"
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{networkColumn, lawColumn, "replicate", "method"},
		Value: []string{aucColumn, bestColumn, chosenColumn, edgesColumn, errorColumn, leastColumn, edgeBiasColumn, otherBiasColumn, signColumn, secondsColumn},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, k := range s.Networks {
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					if !slices.Contains(k.Laws, law.Name) || !slices.Contains(k.Methods, m.Name) {
						continue
					}
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{k.Name, law.Name, strconv.Itoa(replicate), m.Name},
						Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, k, law, m, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}
