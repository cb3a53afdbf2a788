package pairwise

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Residual is the variance of column j that others leave, s_jj − s_jN S_NN⁻¹ s_Nj, with s(j, k)
// the second moments. It is not ok where S_NN is not positive definite, or nothing is left.
func Residual(s func(j, k int) float64, j int, others []int) (variance float64, ok bool) {
	variance = s(j, j)
	n := len(others)
	if n == 0 {
		return variance, variance > 0
	}
	nn := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	solved := make([]float64, n)
	for a, k := range others {
		solved[a] = s(j, k)
		for b, l := range others[a:] {
			nn.Data[a*n+a+b] = s(k, l)
		}
	}
	factor, ok := lapack64.Potrf(nn)
	if !ok {
		return 0, false
	}
	lapack64.Potrs(factor, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: solved})
	for a, k := range others {
		variance -= s(j, k) * solved[a]
	}
	return variance, variance > 1e-10*s(j, j)
}
