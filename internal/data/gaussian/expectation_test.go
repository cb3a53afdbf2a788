package gaussian

import (
	"math"
	"math/rand/v2"
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
	require.NoError(t, e.Over(eta.RawVector().Data, p, x, mask, weight, FindPatterns(mask, weight), nil))
	got := make([]float64, (d+1)*(d+1))
	e.Moments(got)
	loss, likelihood := e.Loss(), e.LogLikelihood

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
	require.NoError(t, e.Over(other, p, x, mask, weight, rows, nil))
	require.NoError(t, once.Over(other, p, x, mask, weight, rows, nil))
	require.Equal(t, once.Second, e.Second)
	require.Equal(t, once.LogLikelihood, e.LogLikelihood)
}

func TestStepsOnThePairsOfANetwork(t *testing.T) {
	const d, n = 30, 40
	rng := rand.New(rand.NewPCG(3, 1))
	mu, _, _ := gapped(d, 1, rng)
	x, mask, weight := gapped(d, n, rng)
	rows := FindPatterns(mask, weight)
	for _, neighbours := range []float64{0, 2, 20} {
		p, pairs := sparse(d, neighbours, rng), [][2]int32{}
		for j := range d {
			for k := j + 1; k < d; k++ {
				if p[j*d+k] != 0 {
					pairs = append(pairs, [2]int32{int32(j), int32(k)})
				}
			}
		}
		whole, part := NewExpectation(d, Gonum), NewExpectation(d, Gonum)
		require.NoError(t, whole.Over(mu, p, x, mask, weight, rows, nil))
		require.NoError(t, part.Over(mu, p, x, mask, weight, rows, pairs))
		require.InDeltaSlice(t, whole.Sum, part.Sum, 1e-12)
		require.InDelta(t, whole.LogLikelihood, part.LogLikelihood, 1e-9)
		for j := range d {
			for k := range d {
				if j == k || p[j*d+k] != 0 {
					require.InDelta(t, whole.Second[j*d+k], part.Second[j*d+k], 1e-9)
				}
			}
		}
	}
}
