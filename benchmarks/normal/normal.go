// Package normal is the paper's parameter estimation (section "Truncated Gaussian
// Model", appendix "Normal Distribution estimation"): a 10-dimensional normal, its
// first three columns above their 10 % quantiles or not truncated, fitted by Adam from
// the standard normal, and compared with the truth after each epoch.
package normal

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/marginal"
	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
)

//go:embed normal-truncated.json
var truncated []byte

//go:embed normal.json
var untruncated []byte

// Truncated is the experiment of the paper's section "Truncated Gaussian Model".
var Truncated = harness.Experiment{
	Name: "normal-truncated", Title: "Truncated Gaussian model",
	Source:   "section “Truncated Gaussian Model” (figure 10dim_normal_trunc), appendix of the same name (figure Normal_trunc_meanandprec)",
	Settings: truncated, Grid: grid, Figures: draw,
	Claims: []claims.Claim{
		readAll("normal-truncated-iw-em-best", "Marg-IW and EM perform best …", "Truncated Gaussian Model", weights, iwAndEMBest),
		readAll("normal-truncated-var-approaches", "… with Marg-Var approaching asymptotically. [tested: at the last epoch Marg-IW is not ahead of it by more than the margin]", "Truncated Gaussian Model", weights,
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.NoLead(m, p.Methods("iw")[0], []string{"var"})
			}),
		byWeight("normal-truncated-zeroed", "We see the effect of Zeroed's naive marginalisation as it does not converge, … [tested: it stays above Marg-Exact, what the same cells allow]", "Truncated Gaussian Model", weights,
			func(words string, m claims.Measure) []claims.Reading {
				return []claims.Reading{{Words: words, Test: claims.Best(m, []string{"exact"}, []string{"zeroed"}, false)}}
			}),
		byWeight("normal-truncated-variw", "Ours: Marg-VarIW, whose draws are Marg-Var's with importance weights, is where Marg-Exact is. [tested: Marg-Exact is not ahead by more than the margin]", "benchmarks/README.md", weights,
			func(words string, m claims.Measure) []claims.Reading {
				return []claims.Reading{{Words: words, Test: variwAtExact(m)}}
			}),
	},
}

// Untruncated is that of the appendix "Untruncated Gaussian Model".
var Untruncated = harness.Experiment{
	Name: "normal", Title: "Untruncated Gaussian model",
	Source:   "appendix “Untruncated Gaussian Model” (figures 10dim_normal, normal_cov&var, normal_marginalisation)",
	Settings: untruncated, Grid: grid,
	Figures: func(settings json.RawMessage, r cells.Results) ([]figures.Figure, error) {
		along, err := draw(settings, r)
		if err != nil {
			return nil, err
		}
		maps, err := marginals(settings)
		return append(along, maps...), err
	},
	Claims: []claims.Claim{
		readAll("normal-similar-iw-em-best", "As we can see we obtains similar results here as in the truncated case. [there: “Marg-IW and EM perform best”]", "Untruncated Gaussian Model", weights[1:], iwAndEMBest),
		{
			ID: "normal-similar-zeroed", Quote: "As we can see we obtains similar results here as in the truncated case. [there: Zeroed “does not converge”; tested: it stays above Marg-Exact]", Where: "Untruncated Gaussian Model",
			Test: claims.Best(Fisher.With("weight", "cell"), []string{"exact"}, []string{"zeroed"}, false),
		},
		{
			ID: "normal-variw", Quote: "Ours: Marg-VarIW, whose draws are Marg-Var's with importance weights, is where Marg-Exact is. [tested: Marg-Exact is not ahead by more than the margin]", Where: "benchmarks/README.md",
			Test: variwAtExact(Fisher.With("weight", "cell")),
		},
		{
			ID: "normal-naive-misses", Quote: "… the naive marginalisation wouldn't capture the dependence between dimension 10 and the other dimensions that gets introduced when dimension 1 is removed.", Where: "Untruncated Gaussian Model",
			Test: claims.Between(claims.Fact{Column: "share_missed_last"}, claims.Fact{Column: "share_missed_rest"},
				"share of the true marginal precision that the naive one misses, last column − the other pairs"),
		},
	},
}

// Fisher divergence is what the paper shows.
var Fisher = claims.Measure{Column: "fisher_divergence", Name: "Fisher divergence at the last epoch", Smaller: true}

// weights are the forms of g that claims on the truncated normal are read with.
var weights = []struct{ name, words string }{{"row", "one g a row"}, {"cell", "one g a cell"}}

// readAll is a claim with each of the weights and proposals.
func readAll(id, quote, where string, of []struct{ name, words string }, test func(claims.Measure, claims.Proposal) claims.Test) claims.Claim {
	return byWeight(id, quote, where, of, func(words string, m claims.Measure) []claims.Reading {
		return claims.WithEach(words, func(p claims.Proposal) claims.Test { return test(m, p) })
	})
}

// byWeight is a claim with each of the weights.
func byWeight(id, quote, where string, of []struct{ name, words string }, readings func(words string, m claims.Measure) []claims.Reading) claims.Claim {
	var all []claims.Reading
	for _, w := range of {
		all = append(all, readings(w.words, Fisher.With("weight", w.name))...)
	}
	return claims.Claim{ID: id, Quote: quote, Where: where, Test: claims.Readings(all...)}
}

func variwAtExact(m claims.Measure) claims.Test {
	return claims.NoLead(m, "exact", []string{"variw"})
}

func iwAndEMBest(m claims.Measure, p claims.Proposal) claims.Test {
	return claims.Best(m, p.Methods("iw", "em"), []string{"var", "zeroed"}, false)
}

// settings of an experiment; see the JSON files.
type settings struct {
	Replicates int               `json:"replicates"`
	Columns    int               `json:"columns"`
	Rows       int               `json:"rows"`
	Missing    float64           `json:"missing"`
	Truncate   int               `json:"truncate_columns"` // the first so many
	Quantile   float64           `json:"truncate_below"`
	Epochs     int               `json:"epochs"`
	Rate       float64           `json:"rate"`
	Fresh      int               `json:"fresh_draws"` // of the truth, for the Fisher divergence
	Fit        engine.Config     `json:"fit"`         // what the methods have in common
	Weights    []weighted        `json:"weights"`     // g where columns are truncated
	Methods    []json.RawMessage `json:"methods"`
	Ours       []string          `json:"ours"`
}

// weighted is a form of g with its name in results.
type weighted struct {
	Name   string        `json:"name"`
	Weight domain.Weight `json:"weight"`
}

func decode(text json.RawMessage) (s settings, variants []harness.Variant, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, nil, err
	}
	if variants, err = harness.Variants(s.Fit, s.Methods); err == nil {
		err = cmp.Or(harness.CheckAtLeast(3, "columns", s.Columns), harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(2, "fresh_draws", s.Fresh),
			harness.CheckAtLeast(0, "truncate_columns", s.Truncate), harness.CheckShares("truncate_below", s.Quantile),
			harness.CheckShares("missing", s.Missing), harness.CheckTraining(s.Epochs, s.Rate))
	}
	return s, variants, err
}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, variants, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"weight", "replicate", "method"},
		Value: []string{"effective_size", "diverged", "share_missed_last", "share_missed_rest", "fisher_divergence", "mean_error", "precision_error"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, w := range s.Weights {
			for _, v := range variants {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{w.Name, strconv.Itoa(replicate), v.Name},
					Run: func(ctx context.Context) ([]string, error) {
						return s.run(ctx, w.Weight, v.Config, uint64(replicate))
					},
				})
			}
		}
	}
	return g, nil
}

func (s settings) run(ctx context.Context, w domain.Weight, c engine.Config, seed uint64) ([]string, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := simulate.Normal(s.Columns, rng)
	if err != nil {
		return nil, err
	}
	var support *domain.Domain
	if s.Truncate > 0 {
		if support, err = truth.TruncateBelow(s.Truncate, s.Quantile); err != nil {
			return nil, err
		}
	}
	table, err := truth.SampleInside(support, s.Rows, rng)
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
	state := &trainers.State{}
	_, err = trainers.Estimate(ctx, table, trainers.Spec{
		Domain: support, Weight: w, KeepUnits: true, Steps: c, Descent: descent.Passes(s.Epochs, s.Rate),
		Truth: &evaluate.Truth{Model: star, Sample: fresh.Values},
	}, trainers.Run{State: state})
	history, diverged, err := training.History(state, err)
	if err != nil {
		return nil, err
	}
	last, rest := missed(truth.Precision)
	at := training.Epochs(s.Epochs)
	trace := func(name string) string { return training.Trace(history, at, name) }
	return []string{
		training.EffectiveSize(history), strconv.FormatBool(diverged), fmt.Sprintf("%.5f", last), fmt.Sprintf("%.5f", rest),
		trace("fisher_divergence"), trace("mean_error"), trace("precision_error"),
	}, nil
}

// missed tells how much of the true marginal precision without dimension 1 the naive
// one, a part of the precision, misses: Frobenius norm of the difference over that of
// the true one, off the diagonal, in the last column and in the other pairs.
func missed(precision mat.Symmetric) (last, rest float64) {
	naive, marginal := marginal.WithoutFirst(precision)
	d := naive.SymmetricDim()
	share := func(from, to int) float64 {
		var gap, all float64
		for k := from; k < to; k++ {
			for j := range k {
				gap += math.Pow(naive.At(j, k)-marginal.At(j, k), 2)
				all += math.Pow(marginal.At(j, k), 2)
			}
		}
		return math.Sqrt(gap / all)
	}
	return share(d-1, d), share(1, d-1)
}

// draw makes the figures: the three errors along training, for each weight.
func draw(text json.RawMessage, r cells.Results) (out []figures.Figure, err error) {
	s, variants, err := decode(text)
	if err != nil {
		return nil, err
	}
	for _, w := range s.Weights {
		some, err := s.along(r, w.Name, harness.Names(variants))
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// along are the figures of one weight.
func (s settings) along(r cells.Results, weight string, methods []string) ([]figures.Figure, error) {
	var at []float64
	for _, epoch := range training.Epochs(s.Epochs) {
		at = append(at, float64(epoch))
	}
	suffix, title := "", ""
	if weight == "row" {
		suffix, title = "-row", ", one g a row"
	}
	var out []figures.Figure
	for _, m := range []struct{ column, name, what string }{
		{"fisher_divergence", "Fisher divergence", fmt.Sprintf("Fisher divergence E‖s_θ − s‖² over %d fresh draws of the truth", s.Fresh)},
		{"mean_error", "Error of the mean", "Error of the mean (L2 norm)"},
		{"precision_error", "Error of the precision", "Error of the precision (Frobenius norm)"},
	} {
		series, err := figures.AlongTraining(r, claims.Measure{Column: m.column}.With("weight", weight), methods)
		if err != nil {
			return nil, err
		}
		p, err := figures.Bands(m.name+" along training"+title, "epoch", m.name, at, series)
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{Name: m.column + suffix, Plot: p, Width: 16, Height: 11,
			Caption: fmt.Sprintf("%s along training%s: mean and 95 %% interval of the replicates, %d rows of %d columns, missing %g.%s",
				m.what, title, s.Rows, s.Columns, s.Missing, figures.Stopped(series))})
	}
	return out, nil
}

// marginals are the heat maps of the truth of the first replicate.
func marginals(text json.RawMessage) ([]figures.Figure, error) {
	s, _, err := decode(text)
	if err != nil {
		return nil, err
	}
	truth, err := simulate.Normal(s.Columns, stream.New(1, stream.Simulate))
	if err != nil {
		return nil, err
	}
	return marginal.Figures("", fmt.Sprintf("a %d-dimensional normal of the experiment", s.Columns), truth.Precision)
}
