// Package neural fits neural energies and score networks to densities whose score is
// known, cells hidden, and measures E‖s_θ − s‖² on fresh complete draws along training.
package neural

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

//go:embed config.json
var config []byte

//go:embed at-random.json
var atRandom []byte

//go:embed curve.json
var curve []byte

// Experiment has a cell for each density, replicate and method.
var Experiment = harness.Experiment{
	Name: "neural", Title: "Neural energies against known scores", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// AtRandom is the same with cells that are missing at random.
var AtRandom = harness.Experiment{
	Name: "neural-mar", Title: "Neural energies, cells missing at random", Source: "benchmarks/README.md",
	Settings: atRandom, Grid: grid,
}

// Curve is the same of a curve in ten columns, which no imputer is made for.
var Curve = harness.Experiment{
	Name: "neural-curve", Title: "Neural energies of a curve in ten columns", Source: "benchmarks/README.md",
	Settings: curve, Grid: grid,
}

// settings are one size of config.json.
type settings struct {
	Replicates int             `json:"replicates"`
	Densities  []density       `json:"densities"`
	Rows       int             `json:"rows"`
	Missing    float64         `json:"missing"`
	Fresh      int             `json:"fresh_draws"` // of the truth, for the Fisher divergence
	Rate       float64         `json:"rate"`
	Fit        engine.Config   `json:"fit"` // what the methods have in common
	Network    json.RawMessage `json:"network"`
	Methods    []method        `json:"methods"`
	Ours       []string        `json:"ours"`
}

// density is a truth, how cells of its rows are hidden, and the passes over its table.
type density struct {
	Name   string  `json:"name"` // moons, ring, curve or modes
	Epochs int     `json:"epochs"`
	Slope  float64 `json:"slope"` // of gaps.Law: cells are missing at random; 0: completely at random
}

// method is how a model is learned.
type method struct {
	Name   string `json:"name"`
	Model  string `json:"model"`  // energy or score-network
	Method string `json:"method"` // an estimator's name

	Imputer engine.ImputerSpec `json:"imputer"`  // none: the paper's
	HeldOut float64            `json:"held_out"` // share of the rows by which training ends, and whose best parameters are kept; 0: after all passes
	Average float64            `json:"average"`  // descent.Config.Average
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, d := range s.Densities {
		if _, err = d.truth(1); err == nil {
			err = cmp.Or(harness.CheckTraining(d.Epochs, s.Rate), gaps.Law{Name: d.Name, Missing: s.Missing, Slope: d.Slope}.Check())
		}
		if err != nil {
			return s, err
		}
	}
	var shares []float64
	for _, m := range s.Methods {
		if _, err = estimator.ByName(m.Method); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
		for _, share := range []float64{m.HeldOut, m.Average} {
			if share != 0 {
				shares = append(shares, share)
			}
		}
	}
	return s, cmp.Or(harness.CheckShares("held_out, average", shares...), harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(2, "fresh_draws", s.Fresh), harness.CheckShares("missing", s.Missing))
}

// Columns of the results.
const (
	densityColumn = "density"
	sizeColumn    = "effective_size"
	truthColumn   = "score_size" // E‖s‖² of the truth
	leastColumn   = "least"      // over training, …
	passColumn    = "least_epoch"
	keptColumn    = "kept" // of the parameters that the fit gives, …
	endColumn     = "kept_epoch"
	traceColumn   = "fisher_divergence"
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{densityColumn, "replicate", "method"},
		Value: []string{sizeColumn, truthColumn, leastColumn, passColumn, keptColumn, endColumn, traceColumn},
	}
	for _, d := range s.Densities {
		for replicate := 1; replicate <= replicates; replicate++ {
			for _, m := range s.Methods {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{d.Name, strconv.Itoa(replicate), m.Name},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, d, m, uint64(replicate)) },
				})
			}
		}
	}
	return g, nil
}

// truth is the density of a replicate.
func (d density) truth(seed uint64) (simulate.Mixture, error) {
	switch d.Name {
	case "moons":
		return simulate.Moons(), nil
	case "ring":
		return simulate.Ring(), nil
	case "curve":
		return simulate.Curve(10), nil
	case "modes":
		return simulate.Modes(10, 5, stream.New(seed, stream.Simulate, 2)), nil
	}
	return simulate.Mixture{}, fmt.Errorf("settings: there is no density %q; they are moons, ring, curve, modes", d.Name)
}

// table is a replicate's, the same for all methods; complete if asked for.
func (s settings) table(d density, of simulate.Mixture, seed uint64, complete bool) (*data.Table, error) {
	t, err := of.Sample(s.Rows, stream.New(seed, stream.Simulate))
	switch {
	case err != nil || complete:
		return t, err
	case d.Slope != 0:
		return gaps.Law{Missing: s.Missing, Slope: d.Slope}.Hide(t, seed)
	}
	return data.HideMCAR(t, s.Missing, stream.New(seed, stream.Hide))
}
