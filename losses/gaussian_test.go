package losses

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// product is graph.Product[float64] by gonum, which allocates nothing at this size.
func product(ta, tb bool, m, n, k int, a, b, c []float64) {
	op := func(t bool, rows, cols int, data []float64) (blas.Transpose, blas64.General) {
		if t {
			return blas.Trans, blas64.General{Rows: cols, Cols: rows, Stride: rows, Data: data}
		}
		return blas.NoTrans, blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	opA, matA := op(ta, m, k, a)
	opB, matB := op(tb, k, n, b)
	blas64.Gemm(opA, opB, 1, matA, matB, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: c})
}

// blocks is a kernel's input of d columns: rows with nothing, one cell, all but one
// and all cells observed, equal ones among them, the rest at random.
func blocks(d, n int) [][]float64 {
	rng := rand.New(rand.NewPCG(4, 4))
	mu, p, x, mask, weight := make([]float64, d), make([]float64, d*d), make([]float64, n*d), make([]float64, n*d), make([]float64, n)
	for j := range d {
		mu[j] = rng.NormFloat64()
		p[j*d+j] += float64(d)
		for k := range j {
			v := rng.NormFloat64()
			p[j*d+k], p[k*d+j] = v, v
		}
	}
	for i := range n {
		weight[i] = 0.1 + rng.Float64()
		for j := range d {
			seen := rng.IntN(2) == 0
			switch i % 10 {
			case 0:
				seen = false
			case 1:
				seen = j == 2
			case 2, 3:
				seen = j != 1
			case 4:
				seen = true
			}
			if seen {
				mask[i*d+j], x[i*d+j] = 1, rng.NormFloat64()
			}
		}
	}
	weight[n-1] = 0 // padding
	return [][]float64{mu, p, x, mask, weight}
}

// Observed and missing blocks are two ways to the same loss and gradients, and
// what the kernel chooses row by row is a third.
func TestMarginalBlocksAgree(t *testing.T) {
	const d, n = 9, 60
	in := blocks(d, n)
	mixed, missing := newMarginalKernel(d, product), newMarginalKernel(d, product)
	var want, got [1]float64
	require.NoError(t, mixed.run(got[:], in))
	require.NoError(t, missing.run(want[:], in))
	missing.definite = false // and so it stays while P does
	require.NoError(t, missing.run(want[:], in))
	require.False(t, missing.byObserved.used)
	require.True(t, mixed.byObserved.used)
	require.Positive(t, mixed.byMissing.n)
	require.InDelta(t, want[0], got[0], 1e-10)
	require.InDeltaSlice(t, missing.gradMu, mixed.gradMu, 1e-10)
	require.InDeltaSlice(t, missing.gradP, mixed.gradP, 1e-10)

	observed, loss, gradMu, gradP := newMarginalObserved(d, product), 0.0, make([]float64, d), make([]float64, d*d)
	require.True(t, observed.prepare(in[1]))
	observed.begin()
	for i := range n {
		var at []int
		for j := range d {
			if in[3][i*d+j] == 1 {
				at = append(at, j)
			}
		}
		if len(at) == 0 {
			continue
		}
		v, err := observed.add(at, []int{i}, in[2], in[0], in[4], gradMu)
		require.NoError(t, err)
		loss += v
	}
	observed.finish(gradP)
	require.InDelta(t, want[0], loss, 1e-10)
	require.InDeltaSlice(t, missing.gradMu, gradMu, 1e-10)
	require.InDeltaSlice(t, missing.gradP, gradP, 1e-10)
}

// OpenBLAS's products are called by reflection, which allocates; all else does not.
func TestMarginalKernelDoesNotAllocate(t *testing.T) {
	in, out := blocks(9, 60), make([]float64, 1)
	k := newMarginalKernel(9, product)
	require.NoError(t, k.run(out, in))
	require.Zero(t, testing.AllocsPerRun(20, func() {
		in[1][0] += 1e-3 // so that P is factored again
		if err := k.run(out, in); err != nil {
			t.Fatal(err)
		}
	}))
}
