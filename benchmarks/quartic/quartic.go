// Package quartic holds the paper's experiment "Non-Gaussian Model": coefficients θ of log q = Σ
// θ_ij x_i² x_j². Each row is the last draw of a Hamiltonian Monte Carlo chain.
package quartic

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers"
)

var (
	//go:embed ica-dim.json
	dim []byte
	//go:embed ica-n.json
	rows []byte
	//go:embed ica-missing.json
	missing []byte
	//go:embed practice.json
	practice []byte
)

var Dim = harness.Experiment{
	Name: "ica-dim", Title: "Non-Gaussian model: number of columns",
	Source:   "section “Non-Gaussian Model” (figure ICA_varydim)",
	Settings: dim, Grid: harness.Of(grid),
}

var Rows = harness.Experiment{
	Name: "ica-n", Title: "Non-Gaussian model: number of rows",
	Source:   "appendix “Non-Gaussian Estimation” (figure ICA_varyn)",
	Settings: rows, Grid: harness.Of(grid),
}

var Missing = harness.Experiment{
	Name: "ica-missing", Title: "Non-Gaussian model: missing probability",
	Source:   "appendix “Non-Gaussian Estimation” (figure ICA_varymiss)",
	Settings: missing, Grid: harness.Of(grid),
}

// Practice varies choices that the paper made without a figure.
var Practice = harness.Experiment{
	Name: "practice", Title: "Non-Gaussian model: choices in practice",
	Source:   "sections “Gradient First Approach” and “Variational Approximation”, appendix “Variational Modelling Details”",
	Settings: practice, Grid: harness.Of(grid),
}

// One list has several values: the varied setting.
type settings struct {
	Replicates int               `json:"replicates"`
	Columns    []int             `json:"columns"`
	Rows       []int             `json:"rows"`
	Missing    []float64         `json:"missing"`
	Epochs     int               `json:"epochs"`
	Rate       float64           `json:"rate"`
	Fresh      int               `json:"fresh_draws"` // rows for the Fisher divergence
	WarmUp     int               `json:"mcmc_warm_up"`
	Draws      int               `json:"mcmc_draws"`
	Fit        json.RawMessage   `json:"fit"` // engine.Config, common to the methods
	Methods    []json.RawMessage `json:"methods"`
	Ours       []string          `json:"ours"`
}

func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"rhat", "effective_size", "diverged", "fisher_divergence", "quartic_error"},
	}
	variants, err := harness.Variants(s.Fit, s.Methods)
	samples := harness.NewRecentCache[[3]int, *sample](8)
	add := func(d, n int, missing float64, replicate int, v harness.Variant) {
		g.Add(func(ctx context.Context) ([]string, error) {
			seed := uint64(replicate)
			drawn, err := samples.Get([3]int{d, n, replicate}, func() (*sample, error) { return s.draw(ctx, d, n, seed) })
			if err != nil {
				return nil, err
			}
			return s.run(ctx, v.Config, drawn, missing, seed)
		}, d, n, missing, replicate, v.Name)
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Columns {
			for _, n := range s.Rows {
				for _, missing := range s.Missing {
					for _, v := range variants {
						add(d, n, missing, replicate, v)
					}
				}
			}
		}
	}
	return g, err
}

// Common to all methods.
type sample struct {
	truth *model.Quartic
	table *data.Table
	fresh []float64
	rhat  float64
}

func (s settings) draw(ctx context.Context, d, n int, seed uint64) (*sample, error) {
	rng := stream.New(seed, stream.Simulate)
	theta, err := simulate.Quartic(d, rng)
	if err != nil {
		return nil, err
	}
	truth := model.NewQuartic(d)
	if err := truth.SetTheta(theta); err != nil {
		return nil, err
	}
	start := make([]float64, (n+s.Fresh)*d)
	for i := range start {
		start[i] = 0.5 * rng.NormFloat64()
	}
	r, err := mcmc.HMC(ctx, truth, nil, start, mcmc.Options{WarmUp: s.WarmUp, Draws: s.Draws}, rng)
	if err != nil {
		return nil, err
	}
	var names []string
	for j := range d {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	table, err := data.NewTable(names, r.Last[:n*d], nil)
	return &sample{truth, table, r.Last[n*d:], r.WorstRHat()}, err
}

func (s settings) run(ctx context.Context, c engine.Config, drawn *sample, missing float64, seed uint64) ([]string, error) {
	table := drawn.table
	if c.Method != "full" {
		var err error
		if table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	c.Seed = seed
	fit, err := harness.Train(ctx, table, trainers.Spec{
		Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true, Steps: c, Descent: descent.Passes(s.Epochs, s.Rate),
		Truth: &evaluate.Truth{Model: drawn.truth, Sample: drawn.fresh},
	}, s.Epochs)
	return []string{
		fmt.Sprintf("%.4f", drawn.rhat), fit.EffectiveSize(), strconv.FormatBool(fit.Diverged()),
		fit.Trace("fisher_divergence"), fit.Trace("quartic_error"),
	}, err
}
