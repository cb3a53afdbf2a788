// Package neural fits neural energies and score networks to tables with missing cells and measures
// E‖s_θ − s‖² on fresh draws at each epoch.
package neural

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	_ "missingscore/nets"
	"missingscore/trainers"
)

//go:embed config.json
var config []byte

//go:embed at-random.json
var atRandom []byte

//go:embed curve.json
var curve []byte

var Experiment = harness.Experiment{
	Name: "neural", Title: "Neural energies against known scores", Source: "benchmarks/README.md",
	Settings: config, Grid: harness.Of(grid),
}

var AtRandom = harness.Experiment{
	Name: "neural-mar", Title: "Neural energies, cells missing at random", Source: "benchmarks/README.md",
	Settings: atRandom, Grid: harness.Of(grid),
}

// Curve has a curve in ten columns.
var Curve = harness.Experiment{
	Name: "neural-curve", Title: "Neural energies of a curve in ten columns", Source: "benchmarks/README.md",
	Settings: curve, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int             `json:"replicates"`
	Densities  []density       `json:"densities"`
	Rows       int             `json:"rows"`
	Missing    float64         `json:"missing"`
	Fresh      int             `json:"fresh_draws"` // rows for the Fisher divergence
	Rate       float64         `json:"rate"`
	Fit        engine.Config   `json:"fit"` // common to the methods
	Network    json.RawMessage `json:"network"`
	Methods    []method        `json:"methods"`
	Ours       []string        `json:"ours"`
}

type density struct {
	Name   string  `json:"name"` // moons, ring, curve or modes
	Epochs int     `json:"epochs"`
	Slope  float64 `json:"slope"` // gaps.Law.Slope; 0: MCAR
}

type method struct {
	Name   string `json:"name"`
	Model  string `json:"model"`  // energy or score-network
	Method string `json:"method"` // an estimator's name

	Imputer engine.ImputerSpec `json:"imputer"`  // empty: the paper's
	HeldOut float64            `json:"held_out"` // held-out share of the rows for early stopping; 0: no early stopping
	Average float64            `json:"average"`  // descent.Config.Average
}

// score_size is E‖s‖² of the truth, least the minimum of the Fisher divergence over epochs, kept
// the returned model's.
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"density", "replicate", "method"},
		Value: []string{"effective_size", "score_size", "least", "least_epoch", "kept", "kept_epoch", "fisher_divergence"},
	}
	for _, d := range s.Densities {
		for replicate := 1; replicate <= replicates; replicate++ {
			for _, m := range s.Methods {
				g.Add(func(ctx context.Context) ([]string, error) { return s.run(ctx, d, m, uint64(replicate)) }, d.Name, replicate, m.Name)
			}
		}
	}
	return g, nil
}

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
	return simulate.Mixture{}, fmt.Errorf("there is no density %q; choose moons, ring, curve or modes", d.Name)
}

// Common to all methods.
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

func (s settings) run(ctx context.Context, d density, how method, seed uint64) ([]string, error) {
	of, err := d.truth(seed)
	if err != nil {
		return nil, err
	}
	truth := model.NewMixture(of)
	fresh := of.Draw(s.Fresh, stream.New(seed, stream.Simulate, 1))
	size, err := scoreSize(truth, fresh)
	if err != nil {
		return nil, err
	}
	table, err := s.table(d, of, seed, how.Method == "full")
	if err != nil {
		return nil, err
	}
	by := descent.Passes(d.Epochs, s.Rate)
	by.Average = &how.Average
	if how.HeldOut > 0 {
		by.Validation = new(how.HeldOut)
	}
	config := s.Fit
	config.Method, config.Seed, config.Imputer = how.Method, seed, how.Imputer
	fit, err := harness.Train(ctx, table, trainers.Spec{
		Model: trainers.ModelSpec{Kind: how.Model, Options: s.Network}, Objective: trainers.ObjectiveSpec{Kind: "classical"},
		Steps: config, Descent: by, Truth: &evaluate.Truth{Model: truth, Sample: fresh},
	}, d.Epochs)
	if err != nil {
		return nil, err
	}
	least := fit.History[0]
	for _, h := range fit.History {
		if h.Errors[0].Value < least.Errors[0].Value {
			least = h
		}
	}
	kept, end := "-", "-"
	if !fit.Diverged() {
		kept, end = fmt.Sprintf("%.5g", fit.Final.Errors[0].Value), fmt.Sprint(fit.Final.Epoch)
	}
	return []string{
		fit.EffectiveSize(), fmt.Sprintf("%.5g", size), fmt.Sprintf("%.5g", least.Errors[0].Value), fmt.Sprint(least.Epoch), kept, end,
		fit.Trace("fisher_divergence"),
	}, nil
}

// scoreSize returns E‖s‖², the Fisher divergence of a score of 0.
func scoreSize(truth model.Model, sample []float64) (float64, error) {
	n := len(sample) / truth.Dim()
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("square", b.RowSum(b.Map(graph.Square, truth.Evaluate(b, b.Input("x", n, truth.Dim())).Score)))
	})
	if err != nil {
		return 0, err
	}
	copy(p.Input("x"), sample)
	if err := p.Run(); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range p.Output("square") {
		sum += v
	}
	return sum / float64(n), nil
}
