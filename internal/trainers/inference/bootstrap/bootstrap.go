// Package bootstrap repeats the whole estimate on rows drawn with replacement, or on subsets
// (docs/theory/resampling.md).
package bootstrap

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/internal/data/network"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers/estimator"
)

const kind = "bootstrap"

const resampleUnit = "resample"

func init() {
	inference.Kinds[kind] = inference.Kind{
		Note: "the estimate repeated on N tables of resampled rows: standard errors, percentile intervals, share of networks with each edge", Resamples: true,
		Check: func(estimator.Estimator, *domain.Domain) error { return nil },
		Infer: infer,
	}
}

const (
	drawnResamples uint64 = iota + 1
	drawnSubsamples
)

// infer draws n of the table's n rows with replacement, with their missing cells.
func infer(ctx context.Context, p inference.Problem) (*inference.Result, error) {
	n := p.Path.Table.N
	err := fits{
		name: "bootstrap", unit: resampleUnit, purpose: drawnResamples, number: p.Config.Resamples, made: &p.State.Resamples,
		rows: func(_ int, rng *rand.Rand) []int {
			rows := make([]int, n)
			for i := range rows {
				rows[i] = rng.IntN(n)
			}
			slices.Sort(rows)
			return rows
		},
	}.make(ctx, p)
	if err != nil || p.Shard.N > 0 {
		return nil, err
	}
	return summarise(p), nil
}

const most = 0.1

// summarise computes for every pair, over the B successful resamples with partial correlations r_b,
// 0 without an edge (docs/theory/resampling.md#eq-bootstrap):
//
//	SE = √(Σ (r_b − r̄)² / (B − 1)),   interval: the quantiles (1 ∓ level)/2 of the r_b
//
// Estimate is the network's, Inclusion the share of networks with the edge, and SameSign the share
// of these with the sign of Estimate. There are no p values: edges are 0 by selection.
func summarise(p inference.Problem) *inference.Result {
	d := len(p.Path.Nodes())
	var networks, strengths [][]float64
	for _, f := range p.State.Resamples {
		if f.Failed == "" {
			networks, strengths = append(networks, f.Weights(d*(d-1)/2)), append(strengths, f.Strengths(d))
		}
	}
	out := &inference.Result{Rests: fmt.Sprintf("Bootstrap standard errors and %g %% percentile intervals: the estimate, with the choice of λ, repeated on %d tables of resampled rows. They show stability and are no test of an edge. Inclusion is the share of these networks with the edge", 100*p.Config.Level, len(networks))}
	failed, told := failures(resampleUnit, p.State.Resamples)
	if failed > 0 {
		out.Warnings = []string{told}
	}
	if float64(failed) > most*float64(len(p.State.Resamples)) || len(networks) < 2 {
		out.Doubt = told
	}
	whole, together, i := inference.FitOf(p.Path), regpath.OfNodes(p.Path, p.Path.Table.PairCounts()), 0
	estimates := whole.Weights(d * (d - 1) / 2)
	nominal := func(j int) bool { return p.Path.Blocks() != nil && p.Path.Blocks()[j].Width > 1 }
	var edges, nodes []int
	for j := range d {
		nodes = append(nodes, j)
		for k := j + 1; k < d; k++ {
			u := network.Unknown(together[i])
			u.Estimate = estimates[i]
			sizes := make([]float64, len(networks))
			for b, n := range networks {
				sizes[b] = n[i]
			}
			pair(&u, sizes, p.Config.Level)
			out.Pairs = append(out.Pairs, u)
			if estimates[i] != 0 && !nominal(j) && !nominal(k) {
				edges = append(edges, i)
			}
			i++
		}
	}
	if len(networks) > 1 {
		out.Edges = differences(edges, estimates, networks, p.Config.Level)
		out.Strengths = differences(nodes, whole.Strengths(d), strengths, p.Config.Level)
	}
	return out
}

// pair sets the statistics; none with fewer than two resamples.
func pair(u *network.Uncertainty, r []float64, level float64) {
	if len(r) < 2 {
		return
	}
	u.SE = stat.StdDev(r, nil)
	included, same := 0, 0
	for _, v := range r {
		if v != 0 {
			included++
		}
		if v*u.Estimate > 0 {
			same++
		}
	}
	u.Inclusion = float64(included) / float64(len(r))
	if included > 0 && u.Estimate != 0 {
		u.SameSign = float64(same) / float64(included)
	}
	slices.Sort(r)
	u.Low, u.High = quantile(r, (1-level)/2), quantile(r, (1+level)/2)
}

// quantile is of type 7 of Hyndman & Fan 1996 (R's default).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

type fits struct {
	name, unit string // for progress
	purpose    uint64 // identifies their random stream
	number     int
	rows       func(number int, rng *rand.Rand) []int
	made       *[]inference.Fit // in inference.State
}

// A result depends on the seed and its number only.
func (f fits) make(ctx context.Context, p inference.Problem) error {
	*f.made = append(*f.made, make([]inference.Fit, max(0, f.number-len(*f.made)))...)
	var left []int
	total := 0
	for i, fit := range *f.made {
		if p.Shard.Has(i) {
			if total++; !fit.Done {
				left = append(left, i)
			}
		}
	}
	done, config := total-len(left), p.Path.Engine.Config
	return panics.Collect(ctx, config.Workers, left, func(ctx context.Context, i int) (inference.Fit, error) {
		rng := stream.New(config.Seed, stream.Resample, f.purpose, uint64(i))
		rows := f.rows(i, rng)
		made, err := p.Again(ctx, rows, rng.Uint64())
		if err != nil {
			err = fmt.Errorf("%s %d: %w", f.unit, i+1, err)
		}
		return made, err
	}, func(i int, made inference.Fit) error {
		(*f.made)[i] = made
		done++
		p.Path.Report(engine.Progress{Stage: f.name, Unit: f.unit, Iteration: done, Total: total, Loss: math.NaN(), EffectiveSize: math.NaN()})
		return p.Save()
	})
}

func failures(unit string, made []inference.Fit) (failed int, told string) {
	first := -1
	for i, f := range made {
		if f.Failed != "" {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	if failed == 0 {
		return 0, ""
	}
	return failed, fmt.Sprintf("%d of %d %ss failed; the first, number %d: %s", failed, len(made), unit, first+1, made[first].Failed)
}
