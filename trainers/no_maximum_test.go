package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/regpath"
)

// likelihood is the log density of a table's observed cells under N(mu, sigma), by gonum.
func likelihood(t *testing.T, table *data.Table, mu []float64, sigma *mat.SymDense) (sum float64) {
	t.Helper()
	for i := range table.N {
		var mean, x []float64
		var seen []int
		for j := range table.D {
			if table.Observed[i*table.D+j] {
				seen, mean, x = append(seen, j), append(mean, mu[j]), append(x, table.Values[i*table.D+j])
			}
		}
		if seen == nil {
			continue
		}
		s := mat.NewSymDense(len(seen), nil)
		for a, j := range seen {
			for b, k := range seen {
				s.SetSym(a, b, sigma.At(j, k))
			}
		}
		n, ok := distmv.NewNormal(mean, s, nil)
		require.True(t, ok)
		sum += n.LogProb(x)
	}
	return sum
}

// fromRows makes a table whose cells that are NaN are missing.
func fromRows(t *testing.T, names []string, rows [][]float64) *data.Table {
	t.Helper()
	values, seen := slices.Concat(rows...), []bool{}
	for _, x := range values {
		seen = append(seen, !math.IsNaN(x))
	}
	table, err := data.NewTable(names, values, seen)
	require.NoError(t, err)
	return table
}

func inverse(t *testing.T, s mat.Symmetric) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	require.True(t, c.Factorize(s))
	var p mat.SymDense
	require.NoError(t, c.InverseTo(&p))
	return &p
}

// smallTable is a random one of a few rows with many gaps, as the soak of package cmd has them.
func smallTable(t *testing.T, seed uint64) *data.Table {
	t.Helper()
	rng := stream.New(seed)
	d, n := 3+rng.IntN(3), 12+rng.IntN(40)
	g, err := simulate.Normal(d, rng)
	require.NoError(t, err)
	whole, err := g.Sample(n, rng)
	require.NoError(t, err)
	gaps, err := data.HideMCAR(whole, 0.1+0.4*rng.Float64(), rng)
	require.NoError(t, err)
	return gaps
}

// A line goes through two points: the two rows that have both columns are met exactly by a
// normal distribution without a density, towards which the likelihood grows without bound,
// as gonum's density says, too.
func TestLikelihoodWithoutMaximum(t *testing.T) {
	nan := math.NaN()
	table := fromRows(t, []string{"a", "b", "c"}, [][]float64{
		{0, 0.1, nan}, {1, 1.3, nan}, {-1, nan, 0.3}, {0.5, nan, -0.4}, {2, nan, 0.9}, {-0.3, nan, -1}, {0.4, nan, 0.2},
		{nan, -1, 0.4}, {nan, 0.7, -0.8}, {nan, 2.2, 1.1}, {nan, -0.6, -0.2}, {nan, 0.2, 0.6},
	})
	last := math.Inf(-1)
	for _, width := range []float64{1, 1e-3, 1e-6, 1e-9} { // b = 0.1 + 1.2 a + noise
		now := likelihood(t, table, []float64{0, 0.1, 0}, mat.NewSymDense(3, []float64{1, 1.2, 0, 1.2, 1.44 + width, 0, 0, 0, 1}))
		require.Greater(t, now, last)
		last = now
	}
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{}, trainers.Run{})
	require.NoError(t, err)
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "NOT converged: the likelihood has no maximum")
	require.Contains(t, r.Verdict, "as a and b come to depend on each other exactly: only 2 of 12 rows have all of them")
	require.Contains(t, r.Verdict, "(--exclude a)")
	g := r.Model.Model.(*model.Gaussian)
	sigma := inverse(t, g.Precision())
	require.InDelta(t, 1.2, sigma.At(0, 1)/sigma.At(0, 0), 1e-3, "the line through the two rows")
	_, err = r.Encode()
	require.NoError(t, err)
}

// A column that is the sum of two others makes the first minimisation step fail.
func TestSumOfColumns(t *testing.T) {
	var whole []float64
	var seen []bool
	rng := stream.New(1)
	for range 40 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		whole, seen = append(whole, a, b, a+b, c+a), append(seen, true, true, true, rng.IntN(2) == 0)
	}
	table, err := data.NewTable([]string{"a", "b", "sum", "c"}, whole, seen)
	require.NoError(t, err)
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{}, trainers.Run{})
	require.NoError(t, err)
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "as a, b and sum come to depend on each other exactly: they do in all of the 40 rows that have them")
}

// Of random small tables every fit ends where the likelihood is greatest, which gonum's density
// says by differences, or says of which columns there is no such place. The acceleration of
// turns led nowhere on every tenth of them.
func TestSmallTablesHaveAVerdict(t *testing.T) {
	converged, none := 0, 0
	for seed := range uint64(80) {
		table := smallTable(t, seed)
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{}, trainers.Run{})
		require.NoError(t, err, "seed %d", seed)
		if !r.Converged {
			require.Regexp(t, "the likelihood has no maximum.* as x.* come to depend on each other exactly: (no row|only [0-9]+ of)", r.Verdict, "seed %d", seed)
			none++
			continue
		}
		converged++
		g := r.Model.Model.(*model.Gaussian)
		mean, sigma := g.Mean(), inverse(t, g.Precision())
		for j := range table.D {
			for k := j; k < table.D; k++ {
				scale := math.Sqrt(sigma.At(j, j) * sigma.At(k, k))
				step := 1e-4 * scale / (g.Precision().At(j, j) * sigma.At(j, j)) / (g.Precision().At(k, k) * sigma.At(k, k))
				at := func(by float64) float64 {
					moved := mat.NewSymDense(table.D, nil)
					moved.CopySym(sigma)
					moved.SetSym(j, k, moved.At(j, k)+by)
					return likelihood(t, table, mean, moved)
				}
				up, here, down := at(step), at(0), at(-step)
				require.LessOrEqual(t, math.Abs(up-down)/2, 1e-3*math.Abs(up-2*here+down)+1e-9*math.Abs(here), "seed %d, %d %d", seed, j, k)
			}
		}
	}
	require.Greater(t, converged, 60)
	require.Greater(t, none, 3)
}

// A ridge path has no losses of its own. Where no refit has a maximum its sparsest point is the
// result, with the complete-data loss there: (tr(PŜP) − 2 tr P)/d, Ŝ the mean of E[(x − μ)(x − μ)ᵀ]
// of the standardised rows, here row by row.
func TestLossOfARidgePathsPoint(t *testing.T) {
	nan := math.NaN()
	table := fromRows(t, []string{"x1", "x2", "x3"}, [][]float64{
		{1.64, 0.0319, 1.89}, {nan, nan, 6.31}, {0.252, 0.373, nan}, {0.214, nan, 0.381}, {0.0446, nan, 0.481},
		{nan, nan, 0.0617}, {0.00892, 2.62, nan}, {0.239, 0.43, nan}, {nan, nan, 1.53}, {0.00961, 0.725, nan},
		{nan, 0.867, nan}, {0.71, 3.77, nan}, {0.911, nan, 1.28}, {nan, nan, 0.216}, {0.206, 0.434, 0.0129},
		{2.01, 0.00277, nan}, {nan, 1.17, 0.497}, {0.085, nan, 0.0427},
	})
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &regpath.Config{Penalty: regpath.Penalty{Kind: "auto"}}}, trainers.Run{})
	require.NoError(t, err)
	require.Contains(t, r.Verdict, "the likelihood of this network has no maximum")
	_, err = r.Encode()
	require.NoError(t, err)
	z, scale := data.Standardise(table)
	d, g := table.D, r.Model.Model.(*model.Gaussian)
	p, mu := mat.NewSymDense(d, nil), make([]float64, d)
	for j := range d {
		mu[j] = (g.Mean()[j] - scale.Mean[j]) / scale.Deviation[j]
		for k := range d {
			p.SetSym(j, k, g.Precision().At(j, k)*scale.Deviation[j]*scale.Deviation[k])
		}
	}
	moments := mat.NewSymDense(d, nil)
	for i := range z.N {
		completed, left := completedRow(t, z, i, mu, p)
		moments.SymRankOne(moments, 1/float64(z.N), completed)
		left.ScaleSym(1/float64(z.N), left)
		moments.AddSym(moments, left)
	}
	var ps, psp mat.Dense
	ps.Mul(p, moments)
	psp.Mul(&ps, p)
	require.InDelta(t, (mat.Trace(&psp)-2*mat.Trace(p))/float64(d), r.Loss, 1e-9*math.Abs(r.Loss))
}

// completedRow is E[x − μ | observed] of a row under N(μ, P⁻¹) and the covariances of what is missing.
func completedRow(t *testing.T, z *data.Table, i int, mu []float64, p *mat.SymDense) (*mat.VecDense, *mat.SymDense) {
	d := z.D
	x, left := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
	var gaps []int
	for j := range d {
		if z.Observed[i*d+j] {
			x.SetVec(j, z.Values[i*d+j]-mu[j])
		} else {
			gaps = append(gaps, j)
		}
	}
	if gaps == nil {
		return x, left
	}
	block, right := mat.NewSymDense(len(gaps), nil), mat.NewVecDense(len(gaps), nil)
	for a, j := range gaps {
		for b, k := range gaps {
			block.SetSym(a, b, p.At(j, k))
		}
		for k := range d {
			right.SetVec(a, right.AtVec(a)-p.At(j, k)*x.AtVec(k))
		}
	}
	c := inverse(t, block)
	right.MulVec(c, right)
	for a, j := range gaps {
		x.SetVec(j, right.AtVec(a))
		for b, k := range gaps {
			left.SetSym(j, k, c.At(a, b))
		}
	}
	return x, left
}
