// Package marginal is what removing a variable does to a precision matrix: the naive and the
// true marginal precision, and their heat maps.
package marginal

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
)

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

// Figures draws covariance, precision, and the naive and true marginal
// precisions without the first variable, on one scale each for the first two and together
// for the last two. Names begin with prefix.
func Figures(prefix, of string, precision *mat.SymDense) ([]figures.Figure, error) {
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	var covariance mat.SymDense
	if err := chol.InverseTo(&covariance); err != nil {
		return nil, err
	}
	naive, marginal := WithoutFirst(precision)
	shared := math.Max(most(naive), most(marginal))
	var out []figures.Figure
	for _, m := range []struct {
		name, title string
		matrix      *mat.SymDense
		first       int
		most        float64
	}{
		{"covariance", "Covariance", &covariance, 1, most(&covariance)},
		{"precision", "Precision", precision, 1, most(precision)},
		{"naive-marginal", "Naive marginalisation", naive, 2, shared},
		{"true-marginal", "True marginalisation", marginal, 2, shared},
	} {
		p, err := picture.Heat(m.title, m.matrix, m.first, m.most)
		if err != nil {
			return nil, err
		}
		caption := fmt.Sprintf("%s of %s", m.title, of)
		if m.first == 2 {
			caption = fmt.Sprintf("%s of the precision of %s, to remove dimension 1", m.title, of)
		}
		out = append(out, figures.Figure{Name: prefix + m.name, Plot: p, Width: 9, Height: 7.6, Caption: caption + "; colour by the cube root of the value."})
	}
	return out, nil
}

func most(m mat.Symmetric) float64 { return math.Max(mat.Max(m), -mat.Min(m)) }
