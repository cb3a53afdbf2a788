package calibration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/fitted/diffusion"
	"missingscore/trainers/mcmc"
	origin "missingscore/trainers/source"
)

// filling draws the gaps of a table, Draws times a row, (n·Draws, d).
type filling func(ctx context.Context, f *fitted.Model, gaps *data.Table, seed uint64) ([]float64, error)

// ofCells ranks one hidden cell of each row of a subject among draws of it, so that ranks are
// independent.
func ofCells(c Case, fill filling) Case {
	c.ranks = func(ctx context.Context, n int, seed uint64) ([]int, error) {
		p, err := newProblem(c.Model, n, seed)
		if err != nil {
			return nil, err
		}
		drawn, err := fill(ctx, p.model, p.gaps, seed)
		if err != nil {
			return nil, err
		}
		return p.ranks(drawn), nil
	}
	return c
}

// problem are rows with gaps, and what is in these.
type problem struct {
	model  *fitted.Model
	truths *data.Table
	gaps   *data.Table
	cells  []int // of each row the hidden cell that is ranked
}

func newProblem(name string, n int, seed uint64) (p problem, err error) {
	of := subjects[name]
	if p.model, err = of.make(); err != nil {
		return p, err
	}
	if p.truths, err = truths(p.model, n, seed); err != nil {
		return p, err
	}
	hidden, rng := *p.truths, stream.New(seed, stream.Hide)
	hidden.Observed = slices.Clone(p.truths.Observed)
	for i := range n {
		cell := i*columns + columns - 1
		if !of.last {
			cell = i*columns + rng.IntN(columns)
			if other := i*columns + rng.IntN(columns); rng.IntN(2) == 0 {
				hidden.Observed[other] = false
			}
		}
		hidden.Observed[cell] = false
		p.cells = append(p.cells, cell)
	}
	p.gaps = &hidden
	return p, nil
}

// truths are independent rows of the model: of a censored one those whose cells are missing.
func truths(f *fitted.Model, n int, seed uint64) (*data.Table, error) {
	s := f.Domain
	if s.Censored() {
		low, high := s.GapBounds()
		s = &domain.Domain{Lower: low, Upper: high, Half: s.Half}
	}
	values, err := model.SampleRows(f.Model, n, s, stream.New(seed, stream.Simulate))
	if err != nil {
		return nil, err
	}
	return data.NewTable(f.Names, values, slices.Repeat([]bool{true}, len(values)))
}

// ranks are those of the cells among draws (n·Draws, d).
func (p problem) ranks(drawn []float64) []int {
	ranks := make([]int, len(p.cells))
	for i, cell := range p.cells {
		for k := range Draws {
			if drawn[(i*Draws+k)*columns+cell%columns] < p.truths.Values[cell] {
				ranks[i]++
			}
		}
	}
	return ranks
}

// impute is by the command's sampler.
func impute(model, sampler string) Case {
	return imputing(Case{Command: "impute", Model: model, Sampler: sampler}, diffusion.Options{})
}

// imputeAlong is by Langevin steps along the levels of noise.
func imputeAlong(size string, o diffusion.Options) Case {
	return imputing(Case{Command: "impute", Model: "gaussian along noise", Sampler: "diffusion", Size: size}, o)
}

func imputing(c Case, o diffusion.Options) Case {
	return ofCells(c, func(ctx context.Context, f *fitted.Model, gaps *data.Table, seed uint64) ([]float64, error) {
		r, err := fitted.Impute(ctx, f, seen(f, gaps), fitted.ImputeConfig{Sampler: c.Sampler, Draws: Draws, Seed: seed, Chains: mcmc.Options{WarmUp: 150, Draws: 600}, Diffusion: o})
		if err != nil {
			return nil, err
		}
		return r.Values, nil
	})
}

// seen is a table as the model's user has it: with categories for latent numbers.
func seen(f *fitted.Model, t *data.Table) *data.Table {
	if f.Transform == nil {
		return t
	}
	s := *t
	s.Values = slices.Clone(t.Values)
	for i := 0; i < len(s.Values); i += columns {
		for j, cuts := range thresholds {
			category := 0
			for _, cut := range cuts {
				if t.Values[i+j] > cut {
					category++
				}
			}
			s.Values[i+j] = float64(category)
		}
	}
	return &s
}

// steps of a fit in which chains move.
const steps = 60

// source is by what a fit completes rows from: by chains, after so many steps of a fit whose
// model stays as it is.
func source(model, name string) Case {
	return ofCells(Case{Command: "source", Model: model, Sampler: name}, func(_ context.Context, f *fitted.Model, gaps *data.Table, seed uint64) ([]float64, error) {
		x, _, err := completed(f, gaps, proposer{kind: name}, Draws, seed)
		return x, err
	})
}

// proposer is a source by name, with the deviation of its fixed proposal if it has one.
type proposer struct {
	kind string
	sd   float64
}

// completed are rows with draws of a source in their gaps, (n·draws, d), and the log densities
// of these; seed and key are of the random numbers.
func completed(f *fitted.Model, gaps *data.Table, from proposer, draws int, seed uint64, key ...uint64) (x, log []float64, err error) {
	kind := origin.Kinds[from.kind]
	draw, err := kind.New(origin.Setting{Model: f.Model, Table: gaps, Imputer: f.Imputer, Batch: gaps.N, Draws: draws, ProposalSD: from.sd, Domain: f.Domain})
	if err != nil {
		return nil, nil, err
	}
	b := data.NewBatch(gaps.N, gaps.D)
	b.Fill(gaps, gaps.AllRows(), 1)
	x, log = make([]float64, gaps.N*draws*gaps.D), make([]float64, gaps.N*draws)
	moves := 1
	if kind.Memory != nil {
		moves = steps
	}
	for k := range moves {
		if err := draw.Complete(b, x, log, new(origin.Stream).At(seed, append(key, stream.Impute, uint64(k))...)); err != nil {
			return nil, nil, err
		}
	}
	return x, log, nil
}

// sample is by the command's sampler.
func sample(model, sampler string) Case {
	return ofRows(Case{Command: "sample", Model: model, Sampler: sampler}, diffusion.Options{})
}

// sampleAlong is along the levels of noise.
func sampleAlong(sampler, size string, o diffusion.Options) Case {
	return ofRows(Case{Command: "sample", Model: "gaussian along noise", Sampler: sampler, Size: size}, o)
}

// ofRows ranks a number of each true row among those of drawn ones: a random column's, or the
// sum of products of columns, that knows of dependences.
func ofRows(c Case, o diffusion.Options) Case {
	c.ranks = func(ctx context.Context, n int, seed uint64) ([]int, error) {
		f, err := subjects[c.Model].make()
		if err != nil {
			return nil, err
		}
		t, err := truths(f, n, seed)
		if err != nil {
			return nil, err
		}
		drawn, err := fitted.Sample(ctx, f, fitted.SampleConfig{Sampler: c.Sampler, N: n * Draws, Seed: seed, Diffusion: o})
		if err != nil {
			return nil, err
		}
		rng := stream.New(seed, stream.Permute)
		order := rng.Perm(n * Draws) // draws of one chain are not neighbours
		ranks := make([]int, n)
		for i := range n {
			of := number(rng)
			truth := of(t.Values[i*columns : (i+1)*columns])
			for _, k := range order[i*Draws : (i+1)*Draws] {
				if of(drawn.Values[k*columns:(k+1)*columns]) < truth {
					ranks[i]++
				}
			}
		}
		return ranks, nil
	}
	return c
}

// number is one of a row.
func number(rng *rand.Rand) func(row []float64) float64 {
	if j := rng.IntN(columns + 1); j < columns {
		return func(row []float64) float64 { return row[j] }
	}
	return func(row []float64) float64 {
		sum := 0.0
		for j, x := range row {
			sum += x * row[(j+1)%len(row)]
		}
		return sum
	}
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
		drawn, logs, err := completed(f, gaps, from, r*Draws, seed)
		if err != nil {
			return nil, err
		}
		w, err := weights(f, drawn, logs, r)
		if err != nil {
			return nil, err
		}
		rng := stream.New(seed, stream.Permute)
		for k := 0; k < len(w); k += r {
			one := k + pick(w[k:k+r], rng)
			x = append(x, drawn[one*columns:(one+1)*columns]...)
		}
		return x, nil
	})
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

// held draws given the parameters of a fit, as impute does from a model: it ranks a hidden cell of
// each of many tables of one Gaussian law, or the mean of the hidden cells of its column, which
// depends more on the parameters.
func held(rows int, mean bool) Case {
	c := Case{Command: "table", Model: "gaussian", Sampler: "exact of a fit", Size: fmt.Sprintf("%d rows, mean of gaps: %t", rows, mean), Cost: 4}
	c.ranks = func(ctx context.Context, n int, seed uint64) ([]int, error) {
		g, err := gaussian(nil)
		if err != nil {
			return nil, err
		}
		ranks := make([]int, n)
		for i := range n {
			rng := stream.New(seed, stream.Simulate, uint64(i))
			values, err := model.SampleRows(g.Model, rows, nil, rng)
			if err != nil {
				return nil, err
			}
			whole, err := data.NewTable(g.Names, values, slices.Repeat([]bool{true}, len(values)))
			if err != nil {
				return nil, err
			}
			gaps, err := data.HideMCAR(whole, 0.3, rng)
			if err != nil {
				return nil, err
			}
			r, err := trainers.Estimate(ctx, gaps, trainers.Spec{}, trainers.Run{})
			if err != nil {
				return nil, err
			}
			f, err := r.Model.Fitted()
			if err != nil {
				return nil, err
			}
			imputed, err := fitted.Impute(ctx, f, gaps, fitted.ImputeConfig{Sampler: "exact", Draws: Draws, Seed: rng.Uint64()})
			if err != nil {
				return nil, err
			}
			var cells []int
			for at, seen := range gaps.Observed {
				if !seen {
					cells = append(cells, at)
				}
			}
			one := cells[rng.IntN(len(cells))]
			cells = slices.DeleteFunc(cells, func(at int) bool { return at != one && (!mean || at%columns != one%columns) })
			for k := range Draws {
				gap := 0.0
				for _, at := range cells {
					gap += imputed.Values[(at/columns*Draws+k)*columns+at%columns] - whole.Values[at]
				}
				if gap < 0 {
					ranks[i]++
				}
			}
		}
		return ranks, nil
	}
	return c
}
