// Package calibration tests by ranks whether draws are from their law (simulation-based
// calibration, Talts et al. 2018, arXiv:1804.06788): the rank of a hidden number among L draws is
// uniform.
package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

const (
	columns = 3
	draws   = 19   // L
	most    = 1000 // ranks
)

var (
	centre    = []float64{0.3, -0.2, 0.1}
	precision = mat.NewSymDense(columns, []float64{1.5, 0.6, -0.4, 0.6, 1.2, 0.3, -0.4, 0.3, 0.9})
)

type subject struct {
	make func(*testing.T) *fitted.Model
	last bool // the last cell of each row is hidden, instead of one or two anywhere
}

func on(s *domain.Domain) subject {
	return subject{make: func(t *testing.T) *fitted.Model { return gaussian(t, s) }}
}

var subjects = map[string]subject{
	"gaussian":   on(nil),
	"box":        on(&domain.Domain{Lower: []float64{-0.5, math.Inf(-1), math.Inf(-1)}, Upper: []float64{math.Inf(1), 0.7, math.Inf(1)}}),
	"half-space": on(cut(math.Inf(-1), domain.HalfSpace{A: []float64{1, -0.5, 0.7}, B: 0.4})),
	"simplex":    on(cut(-0.6, domain.HalfSpace{A: []float64{1, 1, 1}, B: 0.9})),
	"corner":     on(cut(0.6, domain.HalfSpace{A: []float64{1, 1, 1}, B: 2.7})),
	"censored":   {make: censored, last: true},
	"categories": {make: categories, last: true},
	"imputer":    {make: imputed, last: true},
	"mixture":    {make: mixture},
}

// cut has numbers of at least low in a half-space.
func cut(low float64, h domain.HalfSpace) *domain.Domain {
	s := domain.All(columns)
	for j := range s.Lower {
		s.Lower[j] = low
	}
	s.Half = []domain.HalfSpace{h}
	return s
}

func named(m model.Model, s *domain.Domain) *fitted.Model {
	return &fitted.Model{Model: m, Domain: s, Names: []string{"x1", "x2", "x3"}, Scale: data.UnitScale(columns)}
}

func gaussian(t *testing.T, s *domain.Domain) *fitted.Model {
	m := model.NewGaussian(columns, model.CholeskyFactor)
	m.SetMean(centre)
	require.NoError(t, m.SetPrecision(precision))
	return named(m, s)
}

// Numbers of the last column above 0.5 are hidden.
func censored(t *testing.T) *fitted.Model {
	above := domain.All(columns).Upper
	above[columns-1] = 0.5
	return gaussian(t, domain.All(columns).Censoring(domain.All(columns).Lower, above))
}

func mixture(t *testing.T) *fitted.Model {
	m := model.NewMixture(simulate.Mixture{
		Weights: []float64{1, 1}, Means: [][]float64{{-0.8, 0.5, 0}, {0.7, -0.4, 0.6}},
		Deviations: [][]float64{{0.7, 1, 0.8}, {0.9, 0.6, 1.1}},
	})
	return named(m, nil)
}

// The last column's exact conditional, E[x_d | others] = μ_d − Σ_j P_dj (x_j − μ_j)/P_dd with
// deviation 1/√P_dd, by a network with a rectified unit for each other column and one for its
// negative.
func imputed(t *testing.T) *fitted.Model {
	const last, units = columns - 1, 2 * (columns - 1)
	m := nets.NewNormalImputer(columns, nets.NormalOptions{Hidden: units}, stream.New(1))
	for _, q := range m.Params() {
		clear(q.Value)
	}
	first, second, third, constant := m.Params()[0], m.Params()[2], m.Params()[4], m.Params()[5]
	constant.Value[last] = centre[last]
	for j := range last {
		slope := -precision.At(last, j) / precision.At(last, last)
		constant.Value[last] -= slope * centre[j]
		for side, sign := range []float64{1, -1} {
			unit := 2*j + side
			first.Value[j*units+unit], second.Value[unit*units+unit], third.Value[unit*columns+last] = sign, 1, sign*slope
		}
	}
	m.Params()[6].Value[0] = -math.Log(precision.At(last, last)) / 2
	f := gaussian(t, nil)
	f.Imputer = m
	return f
}

var thresholds = [][]float64{{-0.6, 0.4}, {0.1}} // of the first columns

func categories(t *testing.T) *fitted.Model {
	f := gaussian(t, nil)
	var err error
	f.Transform, err = transform.Read([]byte(`{"x1": {"kind": "ordinal", "categories": [0, 1, 2], "thresholds": [-0.6, 0.4]}, "x2": {"kind": "ordinal", "categories": [0, 1], "thresholds": [0.1]}}`), f.Names)
	require.NoError(t, err)
	return f
}

// At 1e-3 in all cases together (Bonferroni), with fixed seeds.
func TestRanksAreUniform(t *testing.T) {
	cases := []struct {
		subject, sampler string
		ranks            func(t *testing.T, subject, sampler string, n int) []int
		slow             int // so many times fewer ranks
	}{
		{"gaussian", "exact", impute, 1}, {"box", "exact", impute, 1}, {"half-space", "exact", impute, 1}, {"simplex", "exact", impute, 1},
		{"corner", "exact", impute, 4}, {"censored", "exact", impute, 1}, {"gaussian", "mcmc", impute, 1}, {"box", "mcmc", impute, 1},
		{"half-space", "mcmc", impute, 4}, {"simplex", "mcmc", impute, 4}, {"mixture", "mcmc", impute, 1}, {"imputer", "imputer", impute, 1},
		{"categories", "latent", impute, 1}, {"gaussian", "hmc", sample, 1}, {"box", "hmc", sample, 1}, {"half-space", "hmc", sample, 4},
		{"simplex", "hmc", sample, 4}, {"mixture", "hmc", sample, 1},
	}
	n := most
	if !slowtest.Set() {
		n /= 2
	}
	for _, c := range cases {
		p := uniform(c.ranks(t, c.subject, c.sampler, n/c.slow))
		require.Greater(t, p, 1e-3/float64(len(cases)), "%s, %s", c.subject, c.sampler)
	}
}

// uniform is the p value of Pearson's χ² test with L degrees of freedom.
func uniform(ranks []int) float64 {
	counts, expected, sum := make([]float64, draws+1), float64(len(ranks))/(draws+1), 0.0
	for _, r := range ranks {
		counts[r]++
	}
	for _, c := range counts {
		sum += (c - expected) * (c - expected) / expected
	}
	return distuv.ChiSquared{K: draws}.Survival(sum)
}

// truths are drawn rows; of a censored model, rows whose cells are missing.
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

// impute ranks one hidden cell of each row, so that ranks are independent.
func impute(t *testing.T, name, sampler string, n int) []int {
	of := subjects[name]
	f := of.make(t)
	whole := truths(t, f, n, stream.New(11, stream.Simulate))
	gaps, rng, cells := *whole, stream.New(11, stream.Hide), make([]int, n)
	gaps.Values, gaps.Observed = slices.Clone(whole.Values), slices.Clone(whole.Observed)
	for i := range n {
		cells[i] = i*columns + columns - 1
		if !of.last {
			cells[i] = i*columns + rng.IntN(columns)
			if other := i*columns + rng.IntN(columns); rng.IntN(2) == 0 {
				gaps.Observed[other] = false
			}
		}
		gaps.Observed[cells[i]] = false
		for j, cuts := range thresholds {
			if f.Transform != nil {
				category, _ := slices.BinarySearch(cuts, whole.Values[i*columns+j])
				gaps.Values[i*columns+j] = float64(category)
			}
		}
	}
	c := fitted.ImputeConfig{Sampler: sampler, Draws: draws, Seed: 11, Chains: mcmc.Options{WarmUp: 150, Draws: 600}}
	drawn, err := fitted.Impute(t.Context(), f, &gaps, c)
	require.NoError(t, err)
	ranks := make([]int, n)
	for i, cell := range cells {
		for k := range draws {
			if drawn.Values[(i*draws+k)*columns+cell%columns] < whole.Values[cell] {
				ranks[i]++
			}
		}
	}
	return ranks
}

// sample ranks a random column's number, or the sum of products of columns, among drawn rows.
func sample(t *testing.T, name, sampler string, n int) []int {
	f := subjects[name].make(t)
	whole := truths(t, f, n, stream.New(11, stream.Simulate))
	drawn, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: sampler, N: n * draws, Seed: 11})
	require.NoError(t, err)
	rng, ranks := stream.New(11, stream.Permute), make([]int, n)
	order := rng.Perm(n * draws) // draws of one chain are not neighbours
	for i := range n {
		column := rng.IntN(columns + 1)
		number := func(row []float64) (sum float64) {
			if column < columns {
				return row[column]
			}
			for j, x := range row {
				sum += x * row[(j+1)%columns]
			}
			return sum
		}
		truth := number(whole.Values[i*columns : (i+1)*columns])
		for _, k := range order[i*draws : (i+1)*draws] {
			if number(drawn.Values[k*columns:(k+1)*columns]) < truth {
				ranks[i]++
			}
		}
	}
	return ranks
}
