// Package quartic is the paper's experiment "Non-Gaussian Model": coefficients θ of
// log q = Σ θ_ij x_i² x_j², with the number of columns, the rows or the missing
// probability varied. Data come from Hamiltonian Monte Carlo, one chain a row.
package quartic

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/mcmc"
)

var (
	//go:embed ica-dim.json
	dim []byte
	//go:embed ica-n.json
	rows []byte
	//go:embed ica-missing.json
	missing []byte
)

// others are the paper's rivals of Marg-Var.
var others = []string{"iw", "em", "zeroed"}

const section, appendix = "Non-Gaussian Model", "Non-Gaussian Estimation"

// Dim varies the number of columns.
var Dim = harness.Experiment{
	Name: "ica-dim", Title: "Non-Gaussian model: number of columns",
	Source:   "section “Non-Gaussian Model” (figure ICA_varydim)",
	Settings: dim, Grid: grid, Figures: draw,
}

// Rows varies the sample size.
var Rows = harness.Experiment{
	Name: "ica-n", Title: "Non-Gaussian model: number of rows",
	Source:   "appendix “Non-Gaussian Estimation” (figure ICA_varyn)",
	Settings: rows, Grid: grid, Figures: draw,
	Claims: []claims.Claim{
		read("ica-n-em-iw-smallest", "From Figure ICA_varyn we see that both EM and Marg-IW have the smallest estimation error for larger sample sizes. [tested: at the most rows]", appendix, Sizes(),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.AtLargest(m, func(m claims.Measure) claims.Test {
					return claims.Best(m, p.Methods("iw", "em"), []string{"var", "zeroed"}, false)
				})
			}),
		read("ica-n-zeroed-largest", "Zeroed Score Matching has the largest estimation error due to its inability to appropriately marginalise the distribution. [tested: at each number of rows]", appendix, Sizes(),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.Best(m, p.Methods("iw", "var", "em"), []string{"zeroed"}, true)
			}),
	},
}

// Missing varies the missing probability.
var Missing = harness.Experiment{
	Name: "ica-missing", Title: "Non-Gaussian model: missing probability",
	Source:   "appendix “Non-Gaussian Estimation” (figure ICA_varymiss)",
	Settings: missing, Grid: grid, Figures: draw,
	Claims: []claims.Claim{
		read("ica-missing-var-smallest", "In Figure ICA_varymiss, we observe that Marg-Var has the smallest estimation error …", appendix, Probabilities(),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.Best(m, []string{"var"}, p.Methods(others...), false)
			}),
		read("ica-missing-converge", "… with its performance convergence to that of Marg-IW and EM as the missing probability increases. [tested: with the most cells missing the three are comparable]", appendix, Probabilities(),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.AtLargest(m, func(m claims.Measure) claims.Test {
					return claims.Comparable(m, p.Methods("var", "iw", "em")...)
				})
			}),
	},
}

// settings of an experiment; see the JSON files. The one list of several is what varies.
type settings struct {
	Replicates int               `json:"replicates"`
	Columns    []int             `json:"columns"`
	Rows       []int             `json:"rows"`
	Missing    []float64         `json:"missing"`
	Epochs     int               `json:"epochs"`
	Rate       float64           `json:"rate"`
	Fresh      int               `json:"fresh_draws"` // of the truth, for the Fisher divergence
	WarmUp     int               `json:"mcmc_warm_up"`
	Draws      int               `json:"mcmc_draws"`
	Fit        engine.Config     `json:"fit"` // what the methods have in common
	Methods    []json.RawMessage `json:"methods"`
	Ours       []string          `json:"ours"`
}

// along is the key column that varies.
func (s settings) along() string {
	switch {
	case len(s.Columns) > 1:
		return "columns"
	case len(s.Rows) > 1:
		return "rows"
	}
	return "missing"
}

func decode(text json.RawMessage) (s settings, variants []harness.Variant, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, nil, err
	}
	if variants, err = harness.Variants(s.Fit, s.Methods); err == nil {
		err = cmp.Or(harness.CheckAtLeast(2, "columns", s.Columns...), harness.CheckAtLeast(2, "rows", s.Rows...), harness.CheckAtLeast(2, "fresh_draws", s.Fresh),
			harness.CheckAtLeast(1, "mcmc_warm_up", s.WarmUp), harness.CheckAtLeast(mcmc.LeastDraws, "mcmc_draws", s.Draws),
			harness.CheckShares("missing", s.Missing...), harness.CheckTraining(s.Epochs, s.Rate))
	}
	return s, variants, err
}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, variants, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"rhat", "effective_size", "diverged", "fisher_divergence", "quartic_error"},
	}
	samples := harness.NewRecentCache[[3]int, *sample](8)
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Columns {
			for _, n := range s.Rows {
				for _, p := range s.Missing {
					for _, v := range variants {
						seed := uint64(replicate)
						g.Cells = append(g.Cells, cells.Cell{
							Key: []string{strconv.Itoa(d), strconv.Itoa(n), strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(replicate), v.Name},
							Run: func(ctx context.Context) ([]string, error) {
								drawn, err := samples.Get([3]int{d, n, replicate}, func() (*sample, error) { return s.draw(ctx, d, n, seed) })
								if err != nil {
									return nil, err
								}
								return s.run(ctx, v.Config, drawn, p, seed)
							},
						})
					}
				}
			}
		}
	}
	return g, nil
}

// sample is a truth with its draws, the same for all methods of a replicate.
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
	state := &trainers.State{}
	_, err := trainers.Estimate(ctx, table, trainers.Spec{
		Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true, Steps: c, Descent: descent.Passes(s.Epochs, s.Rate),
		Truth: &evaluate.Truth{Model: drawn.truth, Sample: drawn.fresh},
	}, trainers.Run{State: state})
	history, diverged, err := training.History(state, err)
	if err != nil {
		return nil, err
	}
	at := training.Epochs(s.Epochs)
	return []string{
		fmt.Sprintf("%.4f", drawn.rhat), training.EffectiveSize(history), strconv.FormatBool(diverged),
		training.Trace(history, at, "fisher_divergence"), training.Trace(history, at, "quartic_error"),
	}, nil
}

func title(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// draw makes the figures: both errors at the last epoch against what varies, and the parameters'
// along training for each setting.
func draw(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, variants, err := decode(text)
	if err != nil {
		return nil, err
	}
	names, along := harness.Names(variants), s.along()
	word := map[string]string{"columns": "columns", "rows": "rows", "missing": "missing probability"}[along]
	var out []figures.Figure
	add := func(name, caption, title, x, y string, at []float64, series []figures.Series) error {
		p, err := figures.Bands(title, x, y, at, series)
		out = append(out, figures.Figure{Name: name, Plot: p, Width: 16, Height: 11, Caption: caption + " Mean and 95 % interval of the replicates." + figures.Stopped(series)})
		return err
	}
	measures := []claims.Measure{{Column: "quartic_error", Name: "error of the parameters at the last epoch", Along: along}, {Column: "fisher_divergence", Name: "Fisher divergence at the last epoch", Along: along}}
	for _, m := range measures {
		at, series, err := figures.Along(r, m, names)
		if err != nil {
			return nil, err
		}
		if err := add(m.Column, fmt.Sprintf("%s (%d) against the %s.", title(m.Name), s.Epochs, word), title(m.Name), word, m.Name, at, series); err != nil {
			return nil, err
		}
	}
	var epochs []float64
	for _, epoch := range training.Epochs(s.Epochs) {
		epochs = append(epochs, float64(epoch))
	}
	settings, err := r.Distinct(along)
	if err != nil {
		return nil, err
	}
	for _, x := range settings {
		series, err := figures.AlongTraining(r, measures[0].With(along, x), names)
		if err != nil {
			return nil, err
		}
		if err := add(fmt.Sprintf("training-%s-%s", along, x), fmt.Sprintf("Error of the parameters along training, %s %s.", word, x),
			fmt.Sprintf("Error of the parameters, %s %s", word, x), "epoch", "error of the parameters", epochs, series); err != nil {
			return nil, err
		}
	}
	return out, nil
}
