// Package deciding compares ways to decide which pairs are edges: penalties, which put them
// in order, and selections, which cut the order. Its tables are what the defaults of
// --penalty and --select rest on.
package deciding

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/path"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each setting, replicate, penalty and selection.
var Experiment = harness.Experiment{
	Name: "deciding", Title: "Penalties and selections", Source: "benchmarks/deciding/README.md",
	Settings: config, Grid: grid, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int         `json:"replicates"`
	Tables     []kind      `json:"tables"`
	Graphs     []string    `json:"graphs"`
	Ways       []string    `json:"ways"` // penalty and selection, as the command line has them
	Path       path.Config `json:"path"`
	Ours       []string    `json:"ours"`
}

// kind of table of each graph.
type kind struct {
	Columns int      `json:"columns"`
	Rows    int      `json:"rows"`
	Hidden  gaps.Law `json:"hidden"`
}

func (k kind) name() string {
	return fmt.Sprintf("%d columns, %d rows, %s", k.Columns, k.Rows, k.Hidden.Name)
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, k := range s.Tables {
		if err = cmp.Or(harness.CheckAtLeast(3, "columns", k.Columns), harness.CheckAtLeast(8, "rows", k.Rows), k.Hidden.Check()); err != nil {
			return s, fmt.Errorf("settings: %s: %w", k.name(), err)
		}
	}
	for _, name := range s.Graphs {
		if err = graphs.Check(name); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	for _, w := range s.Ways {
		if _, err = way(w); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	}
	return s, nil
}

// Columns of the results.
const (
	graphColumn   = "graph"
	tableColumn   = "table"
	methodColumn  = "method"
	aucColumn     = "auc"
	f1Column      = "f1"
	mccColumn     = "mcc"
	fdrColumn     = "fdr"
	edgesColumn   = "edges"
	takenColumn   = "taken" // which penalty auto came to, and α of the pilot
	secondsColumn = "seconds"
)

// way reads a penalty and a selection, "adaptive, ebic", after them the inference whose q
// values select: "l1, fdr, model".
func way(text string) (s trainers.Spec, err error) {
	s.Network = &path.Config{}
	penalty, selection, _ := strings.Cut(text, ", ")
	selection, kind, tested := strings.Cut(selection, ", ")
	if s.Network.Penalty, err = path.ParsePenalty(penalty); err != nil {
		return s, err
	}
	if s.Network.Select, err = path.ParseSelection(selection); err != nil || !tested {
		return s, err
	}
	s.Inference, err = inference.Parse(kind)
	return s, err
}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{graphColumn, tableColumn, "replicate", methodColumn},
		Value: []string{aucColumn, f1Column, mccColumn, fdrColumn, edgesColumn, takenColumn, secondsColumn},
		Clock: []string{secondsColumn},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, k := range s.Tables {
			for _, graph := range s.Graphs {
				for _, w := range s.Ways {
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{graph, k.name(), strconv.Itoa(replicate), w},
						Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, graph, k, w, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}

// simulate makes a replicate's truth and table.
func (k kind) simulate(graph string, seed uint64) (truth simulate.Gaussian, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate, 1)
	if truth, err = graphs.ByName(graph, k.Columns, rng); err != nil {
		return truth, nil, err
	}
	if t, err = truth.Sample(k.Rows, rng); err != nil {
		return truth, nil, err
	}
	t, err = k.Hidden.Hide(t, seed)
	return truth, t, err
}

// run is one cell.
func (s settings) run(ctx context.Context, graph string, k kind, by string, seed uint64) ([]string, error) {
	truth, t, err := k.simulate(graph, seed)
	if err != nil {
		return nil, err
	}
	spec, err := way(by)
	if err != nil {
		return nil, err
	}
	along := s.Path
	along.Penalty, along.Select = spec.Network.Penalty, spec.Network.Select
	along.Whole = true // the AUC is of a whole path
	spec.Steps, spec.Network = engine.Config{Method: "em-exact", Seed: seed}, &along
	start := time.Now()
	r, err := trainers.Estimate(ctx, t, spec, trainers.Run{})
	seconds := fmt.Sprintf("%.2f", time.Since(start).Seconds())
	var fault *engine.DivergedError
	if errors.As(err, &fault) { // a result, not a failure
		return append(slices.Repeat([]string{"-"}, 6), seconds), nil
	}
	if err != nil {
		return nil, err
	}
	values, err := judge(truth, r.Network)
	return append(values, seconds), err
}
