// Package normal holds the paper's parameter estimation (section "Truncated Gaussian Model",
// appendix "Normal Distribution estimation"): a 10-dimensional normal, with or without truncation
// of its first three columns below their 10 % quantiles.
package normal

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/trainers"
)

//go:embed normal-truncated.json
var truncated []byte

//go:embed normal.json
var untruncated []byte

var Truncated = harness.Experiment{
	Name: "normal-truncated", Title: "Truncated Gaussian model",
	Source:   "section “Truncated Gaussian Model” (figure 10dim_normal_trunc), appendix of the same name (figure Normal_trunc_meanandprec)",
	Settings: truncated, Grid: harness.Of(grid),
}

var Untruncated = harness.Experiment{
	Name: "normal", Title: "Untruncated Gaussian model",
	Source:   "appendix “Untruncated Gaussian Model” (figures 10dim_normal, normal_cov&var, normal_marginalisation)",
	Settings: untruncated, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int               `json:"replicates"`
	Columns    int               `json:"columns"`
	Rows       int               `json:"rows"`
	Missing    float64           `json:"missing"`
	Truncate   int               `json:"truncate_columns"` // number of truncated columns, from the first
	Quantile   float64           `json:"truncate_below"`
	Epochs     int               `json:"epochs"`
	Rate       float64           `json:"rate"`
	Fresh      int               `json:"fresh_draws"` // rows for the Fisher divergence
	Fit        json.RawMessage   `json:"fit"`         // engine.Config, common to the methods
	Weights    []weighted        `json:"weights"`     // forms of g
	Methods    []json.RawMessage `json:"methods"`
	Ours       []string          `json:"ours"`
}

type weighted struct {
	Name   string        `json:"name"`
	Weight domain.Weight `json:"weight"`
}

func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"weight", "replicate", "method"},
		Value: []string{"effective_size", "diverged", "share_missed_last", "share_missed_rest", "fisher_divergence", "mean_error", "precision_error"},
	}
	variants, err := harness.Variants(s.Fit, s.Methods)
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, w := range s.Weights {
			for _, v := range variants {
				g.Add(func(ctx context.Context) ([]string, error) {
					return s.run(ctx, w.Weight, v.Config, uint64(replicate))
				}, w.Name, replicate, v.Name)
			}
		}
	}
	return g, err
}

func (s settings) run(ctx context.Context, w domain.Weight, c engine.Config, seed uint64) ([]string, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := simulate.Normal(s.Columns, rng)
	if err != nil {
		return nil, err
	}
	support, table, err := graphs.Sample(truth, s.Rows, s.Truncate, s.Quantile, rng)
	if err != nil {
		return nil, err
	}
	fresh, err := truth.SampleInside(support, s.Fresh, stream.New(seed, stream.Simulate, 1))
	if err != nil {
		return nil, err
	}
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, s.Missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	star := model.NewGaussian(s.Columns, model.CholeskyFactor)
	if err := star.SetPrecision(truth.Precision); err != nil {
		return nil, err
	}
	star.SetMean(truth.Mean)
	c.Seed = seed
	fit, err := harness.Train(ctx, table, trainers.Spec{
		Domain: support, Weight: w, KeepUnits: true, Steps: c, Descent: descent.Passes(s.Epochs, s.Rate),
		Truth: &evaluate.Truth{Model: star, Sample: fresh.Values},
	}, s.Epochs)
	naive, marginal := graphs.WithoutFirst(truth.Precision)
	d := naive.SymmetricDim()
	last, rest := graphs.Missed(naive, marginal, d-1, d), graphs.Missed(naive, marginal, 1, d-1) // last column, other pairs
	return []string{
		fit.EffectiveSize(), strconv.FormatBool(fit.Diverged()), fmt.Sprintf("%.5f", last), fmt.Sprintf("%.5f", rest),
		fit.Trace("fisher_divergence"), fit.Trace("mean_error"), fit.Trace("precision_error"),
	}, err
}
