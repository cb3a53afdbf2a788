package calibration

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/fitted"
)

// weighted ranks a hidden cell among the draws of a source that weights correct, by the weights
// of a fit. The true cell is from q, the r draws from p', and given all r + 1 without their order
// each is the true one with a probability in proportion to w = q/p'. So
//
//	u = (Σ_k w_k 1[x_k < x_0] + v w_0) / Σ_k w_k,   v uniform on [0, 1]
//
// with the true cell's own weight w_0 is uniform exactly, whatever r.
func weighted(model string, from proposer) Case {
	c := Case{Command: "source", Model: model, Sampler: from.kind + " by weights"}
	c.ranks = func(_ context.Context, n int, seed uint64) ([]int, error) {
		p, err := newProblem(c.Model, n, seed)
		if err != nil {
			return nil, err
		}
		x, log, err := p.withTruths(from, seed)
		if err != nil {
			return nil, err
		}
		w, err := weights(p.model, x, log, Draws+1)
		if err != nil {
			return nil, err
		}
		rng := stream.New(seed, stream.Permute)
		ranks := make([]int, n)
		for i, cell := range p.cells {
			first := i * (Draws + 1)
			u := rng.Float64() * w[first+Draws]
			for k := first; k < first+Draws; k++ {
				if x[k*columns+cell%columns] < p.truths.Values[cell] {
					u += w[k]
				}
			}
			ranks[i] = min(int(u*(Draws+1)), Draws)
		}
		return ranks, nil
	}
	return c
}

// withTruths are each row's draws and, the last, the true row, (n·(Draws + 1), d), and the log
// densities of the source at them, which it knows up to a constant of the row.
func (p problem) withTruths(from proposer, seed uint64) (x, log []float64, err error) {
	drawn, logs, err := completed(p.model, p.gaps, from, Draws, seed)
	if err != nil {
		return nil, nil, err
	}
	density := proposals[from.kind]
	for i := range p.cells {
		row, first := p.truths.Values[i*columns:(i+1)*columns], drawn[i*Draws*columns:][:columns]
		mask := p.gaps.Observed[i*columns : (i+1)*columns]
		x = append(append(x, drawn[i*Draws*columns:(i+1)*Draws*columns]...), row...)
		own := logs[i*Draws] + density(row, mask, from.sd) - density(first, mask, from.sd)
		log = append(append(log, logs[i*Draws:(i+1)*Draws]...), own)
	}
	return x, log, nil
}

// proposals are log densities of sources' draws, up to constants of the row, by hand.
var proposals = map[string]func(x []float64, observed []bool, sd float64) float64{
	"proposal": func(x []float64, observed []bool, sd float64) (log float64) {
		for j, v := range x {
			if !observed[j] {
				log -= v * v / (2 * sd * sd)
			}
		}
		return log
	},
	"imputer": func(x []float64, _ []bool, _ float64) float64 {
		mean, slopes, sd := poor.line()
		return -math.Pow((x[columns-1]-mean-floats.Dot(slopes, x[:columns-1]))/sd, 2) / 2
	},
}

// weights are those of groups of r rows x, by the weighting of a fit.
func weights(f *fitted.Model, x, logProposal []float64, r int) ([]float64, error) {
	n := len(logProposal)
	p, err := graph.Build(func(b *graph.Builder) {
		rows := losses.Rows{R: r, X: b.Input("x", n, columns), LogProposal: b.Input("log proposal", n, 1)}
		b.Output("weights", losses.SelfNormalised{}.Weights(b, rows, f.Model.Evaluate(b, rows.X)))
	})
	if err != nil {
		return nil, err
	}
	copy(p.Input("x"), x)
	copy(p.Input("log proposal"), logProposal)
	err = p.Run()
	return p.Output("weights"), err
}

// resampled ranks a hidden cell among draws each of which is one of r, picked by their weights:
// what r weighted draws say of the law.
func resampled(model string, from proposer, r int) Case {
	return ofCells(Case{Command: "source", Model: model, Sampler: from.kind + " by weights", Size: fmt.Sprintf("r = %d", r)}, func(ctx context.Context, f *fitted.Model, gaps *data.Table, seed uint64) (x []float64, err error) {
		rng := stream.New(seed, stream.Permute)
		for first := 0; first < gaps.N; first += together {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			some := part(gaps, first, min(first+together, gaps.N))
			drawn, logs, err := completed(f, some, from, r*Draws, seed, uint64(first))
			if err != nil {
				return nil, err
			}
			w, err := weights(f, drawn, logs, r)
			if err != nil {
				return nil, err
			}
			for k := 0; k < len(w); k += r {
				one := k + pick(w[k:k+r], rng)
				x = append(x, drawn[one*columns:(one+1)*columns]...)
			}
		}
		return x, nil
	})
}

// together are the rows whose draws are held at once: those of all would take much memory.
const together = 16

// part are rows of a table.
func part(t *data.Table, from, to int) *data.Table {
	return &data.Table{Names: t.Names, N: to - from, D: t.D, Values: t.Values[from*t.D : to*t.D], Observed: t.Observed[from*t.D : to*t.D]}
}

// pick is a place at random, with the probabilities w.
func pick(w []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for k, v := range w {
		if u -= v; u < 0 {
			return k
		}
	}
	return len(w) - 1
}
