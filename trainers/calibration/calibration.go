// Package calibration asks whether draws are from the law that they are said to be from, by
// ranks (simulation-based calibration, Talts et al. 2018, arXiv:1804.06788): a row is drawn
// from a model whose independent draws are known, some of its cells are hidden, and L draws
// are made of them. The true cell's rank among these, 0 to L, is uniform if the draws are from
// the model's conditional; too narrow draws give ranks at both ends, too wide ones ranks in
// the middle, draws with a wrong mean a slope.
package calibration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
	"missingscore/trainers/mcmc"
)

// Draws is L: how many draws a true value is ranked among.
const Draws = 19

// Case is a way to draw, from a model whose independent draws are known.
type Case struct {
	Command string // impute or sample, or source: what a fit completes rows from
	Model   string
	Sampler string // of the command, or the name of the source
	make    func() (*fitted.Model, error)

	one bool // column of each row is hidden, the last, in place of one or two anywhere
}

// Name is the case in words.
func (c Case) Name() string { return c.Command + ", " + c.Model + ", " + c.Sampler }

// Cases are the samplers of impute and sample, and the sources, whose draws are said to be from
// the model itself, with those models that have independent draws to compare with. Of an
// imputer's draws, which are as good as its training, the case is one whose weights are those of
// the exact conditional. Langevin steps have an error that goes by their size, and are no case.
var Cases = []Case{
	{Command: "impute", Model: "gaussian", Sampler: "exact", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "impute", Model: "gaussian in a box", Sampler: "exact", make: func() (*fitted.Model, error) { return gaussian(box()) }},
	{Command: "impute", Model: "gaussian in a half-space", Sampler: "exact", make: func() (*fitted.Model, error) { return gaussian(half()) }},
	{Command: "impute", Model: "gaussian", Sampler: "mcmc", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "impute", Model: "gaussian in a box", Sampler: "mcmc", make: func() (*fitted.Model, error) { return gaussian(box()) }},
	{Command: "impute", Model: "mixture", Sampler: "mcmc", make: mixture},
	{Command: "sample", Model: "gaussian", Sampler: "hmc", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "sample", Model: "gaussian in a box", Sampler: "hmc", make: func() (*fitted.Model, error) { return gaussian(box()) }},
	{Command: "sample", Model: "gaussian", Sampler: "mala", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "sample", Model: "mixture", Sampler: "hmc", make: mixture},
	{Command: "impute", Model: "gaussian", Sampler: "imputer", make: imputed, one: true},
	{Command: "impute", Model: "gaussian with categories", Sampler: "latent", make: categories, one: true},
	{Command: "source", Model: "gaussian", Sampler: "exact", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "source", Model: "gaussian in a box", Sampler: "exact", make: func() (*fitted.Model, error) { return gaussian(box()) }},
	{Command: "source", Model: "gaussian", Sampler: "chains", make: func() (*fitted.Model, error) { return gaussian(nil) }},
	{Command: "source", Model: "gaussian in a box", Sampler: "chains", make: func() (*fitted.Model, error) { return gaussian(box()) }},
	{Command: "source", Model: "mixture", Sampler: "chains", make: mixture},
}

const columns = 3

func box() *domain.Domain {
	s := domain.All(columns)
	s.Lower[0], s.Upper[1] = -0.5, 0.7
	return s
}

func half() *domain.Domain {
	s := domain.All(columns)
	s.Half = []domain.HalfSpace{{A: []float64{1, -0.5, 0.7}, B: 0.4}}
	return s
}

// named is a model of rows in units of their own.
func named(m model.Model, s *domain.Domain) *fitted.Model {
	f := &fitted.Model{Model: m, Domain: s}
	for j := range columns {
		f.Names = append(f.Names, fmt.Sprintf("x%d", j+1))
		f.Scale.Mean, f.Scale.Deviation = append(f.Scale.Mean, 0), append(f.Scale.Deviation, 1)
	}
	return f
}

func gaussian(s *domain.Domain) (*fitted.Model, error) {
	m := model.NewGaussian(columns, model.CholeskyFactor)
	m.SetMean([]float64{0.3, -0.2, 0.1})
	return named(m, s), m.SetPrecision(precision())
}

func precision() *mat.SymDense {
	return mat.NewSymDense(columns, []float64{1.5, 0.6, -0.4, 0.6, 1.2, 0.3, -0.4, 0.3, 0.9})
}

// mixture has two modes that chains cross.
func mixture() (*fitted.Model, error) {
	m, err := model.New("mixture", columns, []byte(`{"components":2}`), stream.New(1))
	if err != nil {
		return nil, err
	}
	p := m.(model.Parametric)
	q := p.Quantities()
	for i, v := range q {
		switch v.Name {
		case "means":
			copy(q[i].Value, []float64{-0.8, 0.5, 0, 0.7, -0.4, 0.6})
		case "deviations":
			copy(q[i].Value, []float64{0.7, 1, 0.8, 0.9, 0.6, 1.1})
		}
	}
	return named(m, nil), p.SetQuantities(q)
}

// Ranks are those of so many true values, each from 0 to Draws.
func (c Case) Ranks(ctx context.Context, n int, seed uint64) ([]int, error) {
	f, err := c.make()
	if err != nil {
		return nil, err
	}
	if c.Command == "sample" {
		return c.rows(ctx, f, n, seed)
	}
	return c.cells(ctx, f, n, seed)
}

// truths are independent rows of the model.
func truths(f *fitted.Model, n int, seed uint64) (*data.Table, error) {
	values, err := model.SampleRows(f.Model, n, f.Domain, stream.New(seed, stream.Simulate))
	if err != nil {
		return nil, err
	}
	return data.NewTable(f.Names, values, slices.Repeat([]bool{true}, len(values)))
}

// cells ranks one hidden cell of each row, so that ranks are independent.
func (c Case) cells(ctx context.Context, f *fitted.Model, n int, seed uint64) ([]int, error) {
	t, err := truths(f, n, seed)
	if err != nil {
		return nil, err
	}
	gaps, at := c.hide(t, seed)
	var drawn []float64
	if c.Command == "source" {
		drawn, err = completed(f, gaps, c.Sampler, seed)
	} else {
		var r *fitted.Imputed
		if r, err = fitted.Impute(ctx, f, seen(f, gaps), fitted.ImputeConfig{Sampler: c.Sampler, Draws: Draws, Seed: seed, Chains: mcmc.Options{WarmUp: 150, Draws: 600}}); err == nil {
			drawn = r.Values
		}
	}
	if err != nil {
		return nil, err
	}
	ranks := make([]int, n)
	for i, cell := range at {
		for k := range Draws {
			if drawn[(i*Draws+k)*columns+cell%columns] < t.Values[cell] {
				ranks[i]++
			}
		}
	}
	return ranks, nil
}

// hide makes gaps, and says which hidden cell of each row is ranked.
func (c Case) hide(t *data.Table, seed uint64) (gaps *data.Table, at []int) {
	hidden, rng := *t, stream.New(seed, stream.Hide)
	hidden.Observed = slices.Clone(t.Observed)
	for i := range t.N {
		cell := i*columns + columns - 1
		if !c.one {
			cell = i*columns + rng.IntN(columns)
			if other := i*columns + rng.IntN(columns); rng.IntN(2) == 0 {
				hidden.Observed[other] = false
			}
		}
		hidden.Observed[cell] = false
		at = append(at, cell)
	}
	return &hidden, at
}

// rows ranks a number of each true row among those of drawn ones: a random column's, or the
// sum of squares, that knows of dependences.
func (c Case) rows(ctx context.Context, f *fitted.Model, n int, seed uint64) ([]int, error) {
	t, err := truths(f, n, seed)
	if err != nil {
		return nil, err
	}
	drawn, err := fitted.Sample(ctx, f, fitted.SampleConfig{Sampler: c.Sampler, N: n * Draws, Seed: seed})
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

// Counts are how often each rank came.
func Counts(ranks []int) []int {
	counts := make([]int, Draws+1)
	for _, r := range ranks {
		counts[r]++
	}
	return counts
}

// Uniform is the p value of Pearson's χ² test that all ranks are as likely,
//
//	χ² = Σ_r (count_r − e)²/e,   e = n/(L+1),   with L degrees of freedom
func Uniform(counts []int) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	expected, sum := float64(n)/float64(len(counts)), 0.0
	for _, c := range counts {
		gap := float64(c) - expected
		sum += gap * gap / expected
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(sum)
}
