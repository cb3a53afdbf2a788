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

	eigenvectors = kinds.EVTridiag // of a tridiagonal matrix
)

// Search holds memory to reuse between matrices. The zero value is ready for use.
type Search struct {
	basis            [][]float64
	diagonal, beside []float64 // of the tridiagonal matrix T
	values, aside    []float64 // of its eigendecomposition
	vectors, work    []float64
}

func Smallest(ctx context.Context, d int, mul func(y, x []float64)) (float64, error) {
	return new(Search).Smallest(ctx, d, mul)
}

// Smallest returns a lower bound of the smallest eigenvalue of a d × d matrix, where mul sets y to
// its product with x: the smallest Ritz value after at most 300 steps minus its residual norm
// (Parlett 1998, chapter 13). It fails only if ctx ends.
func (s *Search) Smallest(ctx context.Context, d int, mul func(y, x []float64)) (float64, error) {
	v := s.vector(0, d)
	rng := stream.New(1, uint64(d))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	s.diagonal, s.beside = s.diagonal[:0], s.beside[:0]
	for steps := 1; ; steps++ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		last, w := s.basis[steps-1], s.vector(steps, d)
		mul(w, last)
		s.diagonal = append(s.diagonal, floats.Dot(w, last))
		for range 2 { // twice is enough
			for _, u := range s.basis[:steps] {
				floats.AddScaled(w, -floats.Dot(w, u), u)
			}
		}
		rest := floats.Norm(w, 2)
		ends := steps == min(d, mostSteps) || rest <= 1e-14*math.Abs(s.diagonal[0])
		if ends || steps%between == 0 {
			least, largest, share, ok := s.ritz()
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
		s.beside = append(s.beside, rest)
		floats.Scale(1/rest, w)
	}
}

func (s *Search) vector(i, d int) []float64 {
	if len(s.basis) > 0 && len(s.basis[0]) != d {
		s.basis = nil
	}
	if i == len(s.basis) {
		s.basis = append(s.basis, make([]float64, d))
	}
	return s.basis[i]
}

// share is the size of the last element of the least eigenvalue's eigenvector.
func (s *Search) ritz() (least, largest, share float64, ok bool) {
	m := len(s.diagonal)
	s.values, s.aside = append(s.values[:0], s.diagonal...), append(s.aside[:0], s.beside...)
	s.vectors, s.work = slices.Grow(s.vectors[:0], m*m)[:m*m], slices.Grow(s.work[:0], 2*m)[:2*m]
	if !(lapack.Implementation{}).Dsteqr(eigenvectors, m, s.values, s.aside, s.vectors, m, s.work) {
		return 0, 0, 0, false
	}
	return s.values[0], max(math.Abs(s.values[0]), math.Abs(s.values[m-1])), math.Abs(s.vectors[(m-1)*m]), true
}
