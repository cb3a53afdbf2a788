package gaussian

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/internal/stream"
)

// Moments and likelihood of blocks equal each row's own conditional by gonum.
func TestMomentsOfBlocksTogether(t *testing.T) {
	const d, n = 30, 60
	rng := stream.New(7, 1)
	precision, sigma := mat.NewSymDense(d, sparse(d, 60, rng)), mat.NewSymDense(d, nil)
	var c mat.Cholesky
	require.True(t, c.Factorize(precision))
	require.NoError(t, c.InverseTo(sigma))
	x, mask, weight, mu := make([]float64, n*d), make([]float64, n*d), make([]float64, n), make([]float64, d)
	for i := range n {
		weight[i] = 0.5 + rng.Float64()
		for j := range d {
			if mu[j] = 0.1 * float64(j%5); i%3 > 0 && i%4 > 0 {
				mask[i*d+j] = mask[(i-1)*d+j]
			} else if rng.Float64() < 0.3+0.4*float64(i%2) {
				mask[i*d+j] = 1
			}
			x[i*d+j] = mask[i*d+j] * rng.NormFloat64()
		}
	}
	var eta mat.VecDense
	eta.MulVec(precision, mat.NewVecDense(d, mu))
	e := NewExpectation(d, Gonum)
	p := mat.DenseCopyOf(precision).RawMatrix().Data
	require.NoError(t, e.Over(eta.RawVector().Data, p, x, mask, weight, FindPatterns(mask, weight)))
	require.Positive(t, e.byCells.n)
	require.Positive(t, e.byGaps.n)
	got := make([]float64, (d+1)*(d+1))
	loss, likelihood := e.Moments(got), e.LogLikelihood

	whole, ok := distmv.NewNormal(mu, sigma, nil)
	require.True(t, ok)
	want, log := mat.NewDense(d+1, d+1, nil), 0.0
	for i := range n {
		var seen, gaps []int
		var values []float64
		for j, x := range x[i*d : (i+1)*d] {
			if mask[i*d+j] == 0 {
				gaps = append(gaps, j)
				continue
			}
			seen, values = append(seen, j), append(values, x)
		}
		marginal, ok := whole.MarginalNormal(seen, nil)
		require.True(t, ok)
		log += weight[i] * marginal.LogProb(values)
		conditional, ok := whole.ConditionNormal(seen, values, nil)
		require.True(t, ok)
		var spread mat.SymDense
		conditional.CovarianceMatrix(&spread)
		one := mat.NewVecDense(d+1, append([]float64{1}, x[i*d:(i+1)*d]...)) // (1, E[x] − μ)
		for a, j := range gaps {
			one.SetVec(j+1, conditional.Mean(nil)[a])
			for b, k := range gaps {
				want.Set(j+1, k+1, want.At(j+1, k+1)+weight[i]*spread.At(a, b))
			}
		}
		one.SubVec(one, mat.NewVecDense(d+1, append([]float64{0}, mu...)))
		var outer mat.Dense
		outer.Outer(weight[i], one, one)
		want.Add(want, &outer)
	}
	second := want.Slice(1, d+1, 1, d+1)
	var pm, pmp mat.Dense
	pm.Mul(precision, second)
	pmp.Mul(&pm, precision)
	require.InEpsilon(t, mat.Trace(&pmp)-2*want.At(0, 0)*mat.Trace(precision), loss, 1e-10)
	require.InDeltaSlice(t, want.RawMatrix().Data, got, 1e-9)
	require.InDelta(t, log, likelihood, 1e-8*math.Abs(log))

	// A new η with the same P gives the same bytes as a first step.
	other := make([]float64, d)
	other[3] = 0.7
	once, rows := NewExpectation(d, Gonum), FindPatterns(mask, weight)
	require.NoError(t, e.Over(other, p, x, mask, weight, rows))
	require.NoError(t, once.Over(other, p, x, mask, weight, rows))
	require.Equal(t, once.Second, e.Second)
	require.Equal(t, once.LogLikelihood, e.LogLikelihood)
}

// Within equals Over on the network's pairs and the diagonal.
func TestStepsWithinNetworks(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		d    int
		near int // columns that a column has an edge with, on one side
	}{{12, 1}, {30, 2}, {30, 14}, {6, 0}} {
		rng := stream.New(3, 1)
		d, pairs := c.d, [][2]int32(nil)
		p := mat.NewSymDense(d, nil)
		for j := range d {
			p.SetSym(j, j, 2)
			for k := j + 1; k <= min(j+c.near, d-1); k++ {
				p.SetSym(j, k, 0.9*(rng.Float64()-0.5)/float64(c.near))
				pairs = append(pairs, [2]int32{int32(j), int32(k)})
			}
		}
		x, mask, weight := gapped(d, n, rng)
		mu := make([]float64, d)
		for j := range mu {
			mu[j] = 0.1 * float64(j%5)
		}
		var eta mat.VecDense
		eta.MulVec(p, mat.NewVecDense(d, mu))
		numbers, rows := mat.DenseCopyOf(p).RawMatrix().Data, FindPatterns(mask, weight)
		e := NewExpectation(d, Gonum)
		got := make([]float64, 1+2*d+len(pairs))
		require.NoError(t, e.Within(Network{Mean: mu, P: numbers, Pairs: pairs}, x, mask, weight, rows))
		e.Elements(got)
		likelihood := e.LogLikelihood
		require.NoError(t, e.Over(eta.RawVector().Data, numbers, x, mask, weight, rows), "after it")
		want := append([]float64{e.Number}, e.Sum...)
		for j := range d {
			want = append(want, e.Second[j*d+j])
		}
		for _, at := range pairs {
			want = append(want, e.Second[int(at[0])*d+int(at[1])])
		}
		require.InDeltaSlice(t, want, got, 1e-9)
		require.InDelta(t, e.LogLikelihood, likelihood, 1e-8)
	}
}
