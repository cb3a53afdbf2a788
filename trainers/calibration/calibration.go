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
	Command string // impute or sample
	Model   string
	Sampler string // of the command
	make    func() (*fitted.Model, error)
}

// Name is the case in words.
func (c Case) Name() string { return c.Command + ", " + c.Model + ", " + c.Sampler }

// Cases are the samplers of impute and sample whose draws are said to be from the model itself,
// with those models that have independent draws to compare with. Of an imputer's draws, which
// are as good as its training, of Langevin steps and of the latent sampler nothing is said here.
var Cases = []Case{
	{"impute", "gaussian", "exact", func() (*fitted.Model, error) { return gaussian(nil) }},
	{"impute", "gaussian in a box", "exact", func() (*fitted.Model, error) { return gaussian(box()) }},
	{"impute", "gaussian in a half-space", "exact", func() (*fitted.Model, error) { return gaussian(half()) }},
	{"impute", "gaussian", "mcmc", func() (*fitted.Model, error) { return gaussian(nil) }},
	{"impute", "gaussian in a box", "mcmc", func() (*fitted.Model, error) { return gaussian(box()) }},
	{"impute", "mixture", "mcmc", mixture},
	{"sample", "gaussian", "hmc", func() (*fitted.Model, error) { return gaussian(nil) }},
	{"sample", "gaussian in a box", "hmc", func() (*fitted.Model, error) { return gaussian(box()) }},
	{"sample", "gaussian", "mala", func() (*fitted.Model, error) { return gaussian(nil) }},
	{"sample", "mixture", "hmc", mixture},
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
	return named(m, s), m.SetPrecision(mat.NewSymDense(columns, []float64{1.5, 0.6, -0.4, 0.6, 1.2, 0.3, -0.4, 0.3, 0.9}))
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
	gaps, rng := *t, stream.New(seed, stream.Hide)
	gaps.Observed = slices.Clone(t.Observed)
	at := make([]int, n) // the cell that is ranked
	for i := range n {
		at[i] = i*columns + rng.IntN(columns)
		gaps.Observed[at[i]] = false
		if other := i*columns + rng.IntN(columns); rng.IntN(2) == 0 {
			gaps.Observed[other] = false
		}
	}
	drawn, err := fitted.Impute(ctx, f, &gaps, fitted.ImputeConfig{Sampler: c.Sampler, Draws: Draws, Seed: seed, Chains: mcmc.Options{WarmUp: 150, Draws: 600}})
	if err != nil {
		return nil, err
	}
	ranks := make([]int, n)
	for i, cell := range at {
		for k := range Draws {
			if drawn.Values[(i*Draws+k)*columns+cell%columns] < t.Values[cell] {
				ranks[i]++
			}
		}
	}
	return ranks, nil
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
