package quartic

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/trainers"
	"missingscore/trainers/penalty"
)

//go:embed penalised.json
var penalisedSettings []byte

// Penalised compares regularisation; it is not in the paper.
var Penalised = harness.Experiment{
	Name: "ica-penalised", Title: "Non-Gaussian model: penalties and held-out stopping", Source: "benchmarks/README.md",
	Settings: penalisedSettings, Grid: penalisedGrid,
}

type penalisedSetting struct {
	settings
	Seeds      uint64         `json:"seeds_after"` // replicate k uses seed Seeds + k
	Treatments []string       `json:"treatments"`
	Validation float64        `json:"validation"` // held-out share of the rows in "held out"
	Penalty    penalty.Config `json:"penalty"`    // of "l1" and "ridge", without its kind
	LeftOut    []string       `json:"left_out"`   // "METHOD, TREATMENT" pairs that are not run
}

func (s penalisedSetting) descent(treatment string) (descent.Config, error) {
	c := descent.Passes(s.Epochs, s.Rate)
	switch treatment {
	case "passes":
	case "held out":
		c.Validation = new(s.Validation)
	case "l1", "ridge":
		c = descent.Config{Penalty: s.Penalty}
		c.Penalty.Kind = treatment
	default:
		return c, fmt.Errorf("settings: there is no treatment %q; choose passes, held out, l1, ridge", treatment)
	}
	return c, nil
}

func penalisedGrid(text json.RawMessage, replicates int) (cells.Grid, error) {
	var s penalisedSetting
	if err := harness.Decode(text, &s); err != nil {
		return cells.Grid{}, err
	}
	variants, err := harness.Variants(s.Fit, s.Methods)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"fisher_divergence", "quartic_error", "epoch", "lambda", "coupled", "converged"},
	}
	samples := harness.NewRecentCache[[3]int, *sample](8)
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Columns {
			for _, v := range variants {
				for _, treatment := range s.Treatments {
					name, seed := v.Name+", "+treatment, s.Seeds+uint64(replicate)
					if slices.Contains(s.LeftOut, name) {
						continue
					}
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{strconv.Itoa(d), strconv.Itoa(s.Rows[0]), strconv.FormatFloat(s.Missing[0], 'g', -1, 64), strconv.Itoa(replicate), name},
						Run: func(ctx context.Context) ([]string, error) {
							drawn, err := samples.Get([3]int{d, s.Rows[0], replicate}, func() (*sample, error) { return s.draw(ctx, d, s.Rows[0], seed) })
							if err != nil {
								return nil, err
							}
							return s.treat(ctx, v.Config, treatment, drawn, seed)
						},
					})
				}
			}
		}
	}
	return g, nil
}

func (s penalisedSetting) treat(ctx context.Context, c engine.Config, treatment string, drawn *sample, seed uint64) ([]string, error) {
	table := drawn.table
	var err error
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, s.Missing[0], stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	c.Seed = seed
	by, err := s.descent(treatment)
	if err != nil {
		return nil, err
	}
	r, err := harness.Estimate(ctx, table, trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true, Steps: c, Descent: by}, trainers.Run{})
	if trainers.Diverged(err) {
		return []string{"-", "-", "-", "-", "-", "false"}, nil
	}
	if err != nil {
		return nil, err
	}
	truth := evaluate.Truth{Model: drawn.truth, Sample: drawn.fresh}
	compared, err := truth.Follow(r.Model.Model)
	if err != nil {
		return nil, err
	}
	found, err := compared.Errors()
	if err != nil {
		return nil, err
	}
	of := map[string]string{}
	for _, e := range found {
		of[e.Name] = fmt.Sprintf("%.5g", e.Value)
	}
	lambda, coupled := "-", "-"
	if p := r.Penalty; p != nil {
		lambda, coupled = fmt.Sprintf("%.4g", p.Lambda), strconv.Itoa(p.Coupled)
	}
	return []string{of["fisher_divergence"], of["quartic_error"], strconv.Itoa(r.Final.Epoch), lambda, coupled, strconv.FormatBool(r.Converged)}, nil
}
