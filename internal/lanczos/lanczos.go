// Package lanczos finds the smallest eigenvalue of a symmetric matrix from products with vectors;
// gonum needs d³ operations.
package lanczos

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	kinds "gonum.org/v1/gonum/lapack"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"missingscore/internal/stream"
)

const (
	mostSteps = 300
	tolerance = 1e-8 // of the residual, relative to the largest |eigenvalue|
	between   = 10   // steps between computations of the Ritz values
)

// Smallest returns a lower bound of the smallest eigenvalue of a d × d matrix, where mul sets y to
// its product with x: the smallest Ritz value after at most 300 steps minus its residual norm
// (Parlett 1998, chapter 13). It fails only if ctx ends.
func Smallest(ctx context.Context, d int, mul func(y, x []float64)) (float64, error) {
	v := make([]float64, d)
	rng := stream.New(1, uint64(d))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	basis := [][]float64{v}
	var diagonal, beside []float64 // of the tridiagonal matrix T
	for steps := 1; ; steps++ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		last, w := basis[steps-1], make([]float64, d)
		mul(w, last)
		diagonal = append(diagonal, floats.Dot(w, last))
		for range 2 { // twice is enough
			for _, u := range basis {
				floats.AddScaled(w, -floats.Dot(w, u), u)
			}
		}
		rest := floats.Norm(w, 2)
		ends := steps == min(d, mostSteps) || rest <= 1e-14*math.Abs(diagonal[0])
		if ends || steps%between == 0 {
			least, largest, share, ok := ritz(diagonal, beside)
			if residual := rest * share; ok && (ends || residual <= tolerance*largest) {
				if steps == d {
					residual = 0
				}
				return least - residual, nil
			}
			if ends {
				return math.Inf(-1), nil
			}
		}
		beside = append(beside, rest)
		floats.Scale(1/rest, w)
		basis = append(basis, w)
	}
}

// share is the size of the last element of the least eigenvalue's eigenvector.
func ritz(diagonal, beside []float64) (least, largest, share float64, ok bool) {
	m, values := len(diagonal), slices.Clone(diagonal)
	vectors := make([]float64, m*m)
	if !(lapack.Implementation{}).Dsteqr(kinds.EVTridiag, m, values, slices.Clone(beside), vectors, m, make([]float64, 2*m)) {
		return 0, 0, 0, false
	}
	return values[0], max(math.Abs(values[0]), math.Abs(values[m-1])), math.Abs(vectors[(m-1)*m]), true
}
