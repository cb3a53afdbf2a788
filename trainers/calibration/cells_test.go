package calibration

import (
	"context"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
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
