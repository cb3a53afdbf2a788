// Package calibration tests by ranks whether draws are from their law (simulation-based
// calibration, Talts et al. 2018, arXiv:1804.06788): the rank of a hidden cell among L draws is
// uniform.
package calibration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/fitted"
)

const (
	draws = 19   // L: how many a true value is ranked among
	most  = 1000 // ranks
)

type way struct {
	name  string
	ranks func(t *testing.T, n int, seed uint64) []int // of n true values, each from 0 to draws
	cost  int                                          // how many times fewer ranks there are; 0: 1
}

func (w way) costing(cost int) way {
	w.cost = cost
	return w
}

// Samplers of the law itself; the imputer's weights are the exact conditional's.
var exact = []way{
	impute("gaussian", "exact"),
	impute("gaussian in a box", "exact"),
	impute("gaussian in a half-space", "exact"),
	impute("gaussian on a simplex", "exact"),
	impute("gaussian in a corner", "exact").costing(4),
	impute("gaussian, censored", "exact"),
	impute("gaussian", "mcmc"),
	impute("gaussian in a box", "mcmc"),
	impute("gaussian in a half-space", "mcmc").costing(4),
	impute("gaussian on a simplex", "mcmc").costing(4),
	impute("mixture", "mcmc"),
	impute("gaussian with an imputer", "imputer"),
	impute("gaussian with categories", "latent"),
	sample("gaussian", "hmc"),
	sample("gaussian in a box", "hmc"),
	sample("gaussian in a half-space", "hmc").costing(4),
	sample("gaussian on a simplex", "hmc").costing(4),
	sample("mixture", "hmc"),
}

const alongLevels = "gaussian along noise"

// Coarse and fine.
var approximations = [][2]way{
	{sample(alongLevels, "sde", 5), sample(alongLevels, "sde", 100)},
	{impute(alongLevels, "diffusion", 2), impute(alongLevels, "diffusion", 900).costing(4)},
}

// p value of Pearson's χ² test that the ranks are uniform, with L degrees of freedom.
func (w way) p(t *testing.T, n int) float64 {
	counts := make([]int, draws+1)
	for _, r := range w.ranks(t, max(1, n/max(w.cost, 1)), 11) {
		counts[r]++
	}
	p := uniform(counts)
	t.Logf("%s: p %.3g, %v", w.name, p, counts)
	return p
}

func uniform(counts []int) float64 {
	n, sum := 0, 0.0
	for _, c := range counts {
		n += c
	}
	expected := float64(n) / float64(len(counts))
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(sum)
}

// At 1e-3 in all cases together (Bonferroni), with fixed seeds.
func TestRanksAreUniform(t *testing.T) {
	n := most
	if !slowtest.Set() {
		n /= 2
	}
	for _, w := range exact {
		require.Greater(t, w.p(t, n), 1e-3/float64(len(exact)), w.name)
	}
}

// Errors show at a coarse setting and not at a fine one.
func TestErrorsGoBySize(t *testing.T) {
	for _, a := range approximations {
		require.Less(t, a[0].p(t, most), 1e-4, a[0].name)
		require.Greater(t, a[1].p(t, most), 1e-3/float64(len(approximations)), a[1].name)
	}
}

// Draws 1.3 times too narrow or wide, or off by a fifth of a deviation, fail.
func TestUniformNotices(t *testing.T) {
	rng := stream.New(1)
	p := func(sd, mean float64) float64 {
		return way{ranks: func(_ *testing.T, n int, _ uint64) (ranks []int) {
			for range n {
				truth, rank := rng.NormFloat64(), 0
				for range draws {
					if mean+sd*rng.NormFloat64() < truth {
						rank++
					}
				}
				ranks = append(ranks, rank)
			}
			return ranks
		}}.p(t, most)
	}
	require.Greater(t, p(1, 0), 0.01)
	require.Less(t, p(1/1.3, 0), 1e-4)
	require.Less(t, p(1.3, 0), 1e-4)
	require.Less(t, p(1, 0.2), 1e-4)
	require.InDelta(t, 0.0820850, uniform([]int{30, 50, 40}), 1e-7) // χ² = 5 with 2 degrees of freedom: exp(−5/2)
}

// Of a censored model, rows whose cells are missing.
func truths(t *testing.T, f *fitted.Model, n int, rng *rand.Rand) *data.Table {
	s := f.Domain
	if s.Censored() {
		low, high := s.GapBounds()
		s = &domain.Domain{Lower: low, Upper: high, Half: s.Half}
	}
	values, err := model.SampleRows(f.Model, n, s, rng)
	require.NoError(t, err)
	table, err := data.NewTable(f.Names, values, slices.Repeat([]bool{true}, len(values)))
	require.NoError(t, err)
	return table
}

// (n·draws, d)
type filling func(t *testing.T, f *fitted.Model, gaps *data.Table, seed uint64) []float64

// One hidden cell of each row, so that ranks are independent.
func ofCells(name, subject string, fill filling) way {
	return way{name: name + ", " + subject, ranks: func(t *testing.T, n int, seed uint64) []int {
		of := subjects[subject]
		f := of.make(t)
		whole := truths(t, f, n, stream.New(seed, stream.Simulate))
		gaps, rng, cells := *whole, stream.New(seed, stream.Hide), make([]int, n)
		gaps.Observed = slices.Clone(whole.Observed)
		for i := range n {
			cells[i] = i*columns + columns - 1
			if !of.last {
				cells[i] = i*columns + rng.IntN(columns)
				if other := i*columns + rng.IntN(columns); rng.IntN(2) == 0 {
					gaps.Observed[other] = false
				}
			}
			gaps.Observed[cells[i]] = false
		}
		drawn, ranks := fill(t, f, &gaps, seed), make([]int, n)
		for i, cell := range cells {
			for k := range draws {
				if drawn[(i*draws+k)*columns+cell%columns] < whole.Values[cell] {
					ranks[i]++
				}
			}
		}
		return ranks
	}}
}

func impute(subject, sampler string, steps ...int) way {
	return ofCells(fmt.Sprint("impute by ", sampler, steps), subject, func(t *testing.T, f *fitted.Model, gaps *data.Table, seed uint64) []float64 {
		c := fitted.ImputeConfig{Sampler: sampler, Draws: draws, Seed: seed, Chains: mcmc.Options{WarmUp: 150, Draws: 600}}
		if steps != nil {
			c.Steps = steps[0]
		}
		r, err := fitted.Impute(t.Context(), f, seen(f, gaps), c)
		require.NoError(t, err)
		return r.Values
	})
}

// With categories for latent numbers.
func seen(f *fitted.Model, t *data.Table) *data.Table {
	if f.Transform == nil {
		return t
	}
	s := *t
	s.Values = slices.Clone(t.Values)
	for i := 0; i < len(s.Values); i += columns {
		for j, cuts := range thresholds {
			category, _ := slices.BinarySearch(cuts, t.Values[i+j])
			s.Values[i+j] = float64(category)
		}
	}
	return &s
}

// sample ranks a random column's number, or the sum of products of columns, among drawn rows.
func sample(subject, sampler string, steps ...int) way {
	return way{name: fmt.Sprint("sample by ", sampler, steps, ", ", subject), ranks: func(t *testing.T, n int, seed uint64) []int {
		f := subjects[subject].make(t)
		whole := truths(t, f, n, stream.New(seed, stream.Simulate))
		c := fitted.SampleConfig{Sampler: sampler, N: n * draws, Seed: seed}
		if steps != nil {
			c.Steps = steps[0]
		}
		drawn, err := fitted.Sample(t.Context(), f, c)
		require.NoError(t, err)
		rng, ranks := stream.New(seed, stream.Permute), make([]int, n)
		order := rng.Perm(n * draws) // draws of one chain are not neighbours
		for i := range n {
			column := rng.IntN(columns + 1)
			number := func(values []float64, i int) (sum float64) {
				row := values[i*columns : (i+1)*columns]
				if column < columns {
					return row[column]
				}
				for j, x := range row {
					sum += x * row[(j+1)%columns]
				}
				return sum
			}
			for _, k := range order[i*draws : (i+1)*draws] {
				if number(drawn.Values, k) < number(whole.Values, i) {
					ranks[i]++
				}
			}
		}
		return ranks
	}}
}
