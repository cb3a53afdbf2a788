// Package lanczos finds the smallest eigenvalue of a symmetric matrix that is known by its
// products with vectors.
package lanczos

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

const (
	mostSteps = 300
	tolerance = 1e-8 // of the residual, relative to the largest eigenvalue's size
	between   = 10   // steps from one look at the eigenvalues to the next
)

// Smallest is a lower bound of the smallest eigenvalue of a matrix of size d, mul setting y to
// its product with x: the smallest Ritz value after at most 300 steps with full
// reorthogonalisation, less the norm of its residual (Parlett 1998, chapter 13). From a
// random start, of a stream of its own, it is one with probability 1 where the residual is
// small. It fails only where ctx ends.
func Smallest(ctx context.Context, d int, mul func(y, x []float64)) (float64, error) {
	v := make([]float64, d)
	rng := stream.New(1, uint64(d))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	basis := [][]float64{v}
	var diagonal, beside []float64
	for {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		last := basis[len(basis)-1]
		w := make([]float64, d)
		mul(w, last)
		diagonal = append(diagonal, floats.Dot(w, last))
		for range 2 { // twice is enough
			for _, u := range basis {
				floats.AddScaled(w, -floats.Dot(w, u), u)
			}
		}
		rest := floats.Norm(w, 2)
		steps := len(diagonal)
		ends := steps == min(d, mostSteps) || rest < 1e-14*math.Abs(diagonal[0])
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

// ritz are the smallest eigenvalue of a tridiagonal matrix, the largest size of one, and the
// size of the last element of the smallest one's eigenvector.
func ritz(diagonal, beside []float64) (least, largest, share float64, ok bool) {
	m := len(diagonal)
	t := mat.NewSymDense(m, nil)
	for i, v := range diagonal {
		t.SetSym(i, i, v)
		if i > 0 {
			t.SetSym(i-1, i, beside[i-1])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return 0, 0, 0, false
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return values[0], max(math.Abs(values[0]), math.Abs(values[m-1])), math.Abs(vectors.At(m-1, 0)), true
}
