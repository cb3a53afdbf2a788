package losses_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
)

// expect gives mean and second moments about it of rows completed by a normal's own
// conditional, by covariances: x̂_m = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o), C = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om.
// The loss goes by blocks of the precision.
func expect(t *testing.T, table *data.Table, mu []float64, sigma *mat.SymDense) (mean []float64, second *mat.SymDense) {
	t.Helper()
	d, n := table.D, float64(table.N)
	completed := mat.NewDense(table.N, d, nil)
	second = mat.NewSymDense(d, nil)
	mean = make([]float64, d)
	for i := range table.N {
		var seen, gaps []int
		for j := range d {
			if table.Observed[i*d+j] {
				seen = append(seen, j)
				completed.Set(i, j, table.Values[i*d+j])
			} else {
				gaps = append(gaps, j)
			}
		}
		if len(gaps) > 0 {
			oo, mo := mat.NewSymDense(len(seen), nil), mat.NewDense(len(gaps), len(seen), nil)
			r := mat.NewVecDense(len(seen), nil)
			for a, j := range seen {
				r.SetVec(a, table.Values[i*d+j]-mu[j])
				for b, k := range seen {
					oo.SetSym(a, b, sigma.At(j, k))
				}
				for b, k := range gaps {
					mo.Set(b, a, sigma.At(k, j))
				}
			}
			var chol mat.Cholesky
			require.True(t, chol.Factorize(oo))
			var right, by mat.Dense
			require.NoError(t, chol.SolveTo(&right, mo.T())) // Σ_oo⁻¹ Σ_om
			by.Mul(mo, &right)
			for b, k := range gaps {
				completed.Set(i, k, mu[k]+mat.Dot(right.ColView(b), r))
				for c, l := range gaps {
					if l >= k {
						second.SetSym(k, l, second.At(k, l)+(sigma.At(k, l)-by.At(b, c))/n)
					}
				}
			}
		}
		for j := range d {
			mean[j] += completed.At(i, j) / n
		}
	}
	for i := range table.N {
		for j := range d {
			for k := j; k < d; k++ {
				second.SetSym(j, k, second.At(j, k)+(completed.At(i, j)-mu[j])*(completed.At(i, k)-mu[k])/n)
			}
		}
	}
	return mean, second
}

func gapsIn(t *testing.T, n int) *data.Table {
	t.Helper()
	g, err := simulate.Star(4, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	complete, err := g.Sample(n, stream.New(3, 1))
	require.NoError(t, err)
	table, err := data.HideMCAR(complete, 0.4, stream.New(3, stream.Hide))
	require.NoError(t, err)
	return table
}

// completeLoss runs the loss on a whole table.
func completeLoss(t *testing.T, table *data.Table, g *model.Gaussian, l losses.Loss) *graph.Program {
	t.Helper()
	p, err := losses.New(graph.Float64, l, losses.Uniform{}, g, losses.Classical{}, table.N, 1)
	require.NoError(t, err)
	b := data.NewBatch(table.N, table.D)
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	b.Fill(table, rows, 1/float64(table.N))
	copy(p.Input(losses.InputX), b.X)
	losses.Bind(p, l, losses.Classical{}, b, nil)
	require.NoError(t, p.Run())
	return p
}

func inverse(t *testing.T, p mat.Symmetric) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	require.True(t, c.Factorize(p))
	var s mat.SymDense
	require.NoError(t, c.InverseTo(&s))
	return &s
}

// Value and gradients are −2 tr P + tr(PŜP), 2(PŜ − I) and −2P²(x̄ − μ), with moments by
// another route, in every parameterisation.
func TestGaussianCompleteByItsFormula(t *testing.T) {
	table := gapsIn(t, 60)
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	mu := []float64{0.3, -0.2, 0.1, 0.4}
	mean, second := expect(t, table, mu, inverse(t, p))
	var ps, psp mat.Dense
	ps.Mul(p, second)
	psp.Mul(&ps, p)
	want := mat.Trace(&psp) - 2*mat.Trace(p)

	free := model.NewGaussian(4, model.FreeSymmetric)
	require.NoError(t, free.SetPrecision(p))
	free.SetMean(mu)
	run := completeLoss(t, table, free, losses.GaussianComplete{})
	require.InDelta(t, want, run.Output(losses.OutputReported)[0], 1e-11)
	gap := mat.NewVecDense(4, nil)
	for j := range mu {
		gap.SetVec(j, mean[j]-mu[j])
	}
	var once, twice mat.VecDense
	once.MulVec(p, gap)
	twice.MulVec(p, &once)
	for j := range 4 {
		require.InDelta(t, -2*twice.AtVec(j), run.Grad(free.Location)[j], 1e-11)
		for k := j; k < 4; k++ {
			w := 2 * ps.At(j, k)
			if k > j {
				w += 2 * ps.At(k, j)
			} else {
				w -= 2
			}
			require.InDelta(t, w, run.Grad(free.Packed)[graph.PackedIndex(4, j, k)], 1e-11, "P[%d,%d]", j, k)
		}
	}

	natural := model.NewGaussian(4, model.Natural)
	require.NoError(t, natural.SetPrecision(p))
	natural.SetMean(mu)
	run = completeLoss(t, table, natural, losses.GaussianComplete{})
	require.InDelta(t, want, run.Output(losses.OutputReported)[0], 1e-11)
	for j := range 4 { // by η at fixed P: 2(η − P x̄)
		require.InDelta(t, -2*once.AtVec(j), run.Grad(natural.Location)[j], 1e-11)
	}
}

// Where nothing is missing it is ordinary score matching.
func TestGaussianCompleteWithoutGaps(t *testing.T) {
	table := gapsIn(t, 50)
	for i := range table.Observed {
		table.Observed[i] = true
	}
	g := model.NewGaussian(4, model.CholeskyFactor)
	g.SetMean([]float64{0.1, 0, -0.3, 0.2})
	for i := range g.Packed.Value {
		g.Packed.Value[i] += 0.05 * float64(i%3)
	}
	a, b := completeLoss(t, table, g, losses.GaussianComplete{}), completeLoss(t, table, g, losses.Complete{})
	require.InDelta(t, b.Output(losses.OutputReported)[0], a.Output(losses.OutputReported)[0], 1e-11)
	for _, q := range g.Params() {
		require.InDeltaSlice(t, b.Grad(q), a.Grad(q), 1e-11)
	}
}

// At the maximum of the likelihood of the observed cells, found by an EM algorithm by
// covariances, the equation holds; a step away it does not.
func TestGaussianCompleteAtTheMaximumOfTheLikelihood(t *testing.T) {
	table := gapsIn(t, 80)
	mu, sigma := make([]float64, 4), mat.NewSymDense(4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	for range 3000 {
		mean, second := expect(t, table, mu, sigma)
		next := mat.NewSymDense(4, nil)
		for j := range 4 {
			for k := j; k < 4; k++ {
				next.SetSym(j, k, second.At(j, k)-(mean[j]-mu[j])*(mean[k]-mu[k]))
			}
		}
		mu, sigma = mean, next
	}
	g := model.NewGaussian(4, model.FreeSymmetric)
	require.NoError(t, g.SetPrecision(inverse(t, sigma)))
	g.SetMean(mu)
	run := completeLoss(t, table, g, losses.GaussianComplete{})
	for _, q := range g.Params() {
		require.InDeltaSlice(t, make([]float64, len(q.Value)), run.Grad(q), 1e-8)
	}
	g.Packed.Value[1] += 0.01
	require.Greater(t, slices.Max(completeLoss(t, table, g, losses.GaussianComplete{}).Grad(g.Packed)), 1e-3)
}

// The outputs of the expectation step are moments about the present mean, by another
// route, and the log density of the observed cells by covariances.
func TestExpectationStep(t *testing.T) {
	table := gapsIn(t, 60) // 0 to 4 gaps a row: both blocks are used
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	mu := []float64{0.3, -0.2, 0.1, 0.4}
	sigma := inverse(t, p)
	mean, second := expect(t, table, mu, sigma)
	g := model.NewGaussian(4, model.Natural)
	require.NoError(t, g.SetPrecision(p))
	g.SetMean(mu)
	run := completeLoss(t, table, g, losses.GaussianComplete{})
	got := run.Output(losses.OutputMoments)
	require.InDelta(t, 1, got[0], 1e-12)
	for j := range 4 {
		require.InDelta(t, mean[j]-mu[j], got[1+j], 1e-11)
		require.Equal(t, got[1+j], got[(1+j)*5])
		for k := range 4 {
			require.InDelta(t, second.At(j, k), got[(1+j)*5+1+k], 1e-11)
		}
	}
	want := 0.0
	for i := range table.N {
		var seen []int
		for j := range 4 {
			if table.Observed[i*4+j] {
				seen = append(seen, j)
			}
		}
		if len(seen) == 0 {
			continue
		}
		at, cov, x := make([]float64, len(seen)), mat.NewSymDense(len(seen), nil), make([]float64, len(seen))
		for a, j := range seen {
			at[a], x[a] = mu[j], table.Values[i*4+j]
			for b, k := range seen[:a+1] {
				cov.SetSym(a, b, sigma.At(j, k))
			}
		}
		n, ok := distmv.NewNormal(at, cov, nil)
		require.True(t, ok)
		want += n.LogProb(x) / float64(table.N)
	}
	require.InDelta(t, want, run.Output(losses.OutputLogLikelihood)[0], 1e-11)
}
