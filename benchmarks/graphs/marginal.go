package graphs

import "gonum.org/v1/gonum/mat"

// WithoutFirst gives the precision of the marginal without the first variable, the
// naive one, which is the part of P for the others, and the true one,
//
//	P₂₂ − P₂₁ P₁₂ / P₁₁
//
// (paper, appendix "Untruncated Gaussian Model", figure normal_marginalisation).
func WithoutFirst(precision mat.Symmetric) (naive, marginal *mat.SymDense) {
	d := precision.SymmetricDim()
	naive = mat.NewSymDense(d-1, nil)
	first := mat.NewVecDense(d-1, nil)
	for j := 1; j < d; j++ {
		first.SetVec(j-1, precision.At(0, j))
		for k := j; k < d; k++ {
			naive.SetSym(j-1, k-1, precision.At(j, k))
		}
	}
	marginal = mat.NewSymDense(d-1, nil)
	marginal.SymRankOne(naive, -1/precision.At(0, 0), first)
	return naive, marginal
}
