package optim

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// smallest finds the smallest eigenvalue of symmetric matrices S (d, d), by Lanczos' method
// with every vector made orthogonal to all before it (Golub & Van Loan 2013, section 10.3):
// q_1, q_2, … span the Krylov space of a start, T = QᵀSQ is tridiagonal, and its smallest
// eigenvalue θ with the eigenvector y is off one of S by β|y_last| at most. It is a
// workspace that is used again and again.
type smallest struct {
	basis           []float64 // rows q_i
	product         []float64 // Sq
	alpha, beta     []float64 // of T: its diagonal, and what is beside it
	diagonal, aside []float64
	vectors, work   []float64
	shifted         []float64
}

const (
	leastLanczos     = 24 // columns; fewer are done whole
	mostLanczos      = 60 // steps
	lanczosEvery     = 4  // steps between looks
	lanczosTolerance = 1e-9
	lanczosSlack     = 1e-9
)

// of is that of S, row-major. Whether there is none below is looked for by a Cholesky factor,
// as a start that is orthogonal to its eigenvector would not find it.
func (l *smallest) of(s []float64, d int) float64 {
	if d >= leastLanczos {
		if theta, ok := l.lanczos(s, d); ok && l.noneBelow(s, d, theta-lanczosSlack*math.Abs(theta)) {
			return theta
		}
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(d, s), false) {
		return 0
	}
	return e.Values(nil)[0]
}

// lanczos is not ok where so many steps do not do.
func (l *smallest) lanczos(s []float64, d int) (theta float64, ok bool) {
	if len(l.product) != d {
		l.basis, l.product, l.shifted = make([]float64, mostLanczos*d), make([]float64, d), make([]float64, d*d)
		l.alpha, l.beta = make([]float64, mostLanczos), make([]float64, mostLanczos)
		l.diagonal, l.aside = make([]float64, mostLanczos), make([]float64, mostLanczos)
		l.vectors, l.work = make([]float64, mostLanczos*mostLanczos), make([]float64, 2*mostLanczos)
	}
	q := l.basis[:d]
	for j := range q { // of no matrix the eigenvector
		q[j] = 1 + math.Sin(float64(j*j+1))/2
	}
	floats.Scale(1/floats.Norm(q, 2), q)
	matrix := blas64.Symmetric{N: d, Stride: d, Data: s, Uplo: blas.Upper}
	for k := 1; k <= min(mostLanczos, d); k++ {
		q, next := l.basis[(k-1)*d:k*d], l.product
		blas64.Symv(1, matrix, blas64.Vector{N: d, Inc: 1, Data: q}, 0, blas64.Vector{N: d, Inc: 1, Data: next})
		l.alpha[k-1] = floats.Dot(q, next)
		for range 2 { // once leaves rounding
			for i := range k {
				before := l.basis[i*d : (i+1)*d]
				floats.AddScaled(next, -floats.Dot(before, next), before)
			}
		}
		l.beta[k-1] = floats.Norm(next, 2)
		if k%lanczosEvery == 0 || k == d || l.beta[k-1] == 0 {
			if theta, ok = l.ritz(k); ok {
				return theta, true
			}
		}
		if k < mostLanczos && l.beta[k-1] > 0 {
			floats.ScaleTo(l.basis[k*d:(k+1)*d], 1/l.beta[k-1], next)
		}
	}
	return 0, false
}

// ritz is the smallest eigenvalue of T after k steps; ok where it is one of S.
func (l *smallest) ritz(k int) (theta float64, ok bool) {
	copy(l.diagonal, l.alpha[:k])
	copy(l.aside, l.beta[:k-1])
	if !(lapackgonum.Implementation{}).Dsteqr(lapack.EVTridiag, k, l.diagonal[:k], l.aside[:max(k-1, 0)], l.vectors, k, l.work) {
		return 0, false
	}
	theta = l.diagonal[0]
	return theta, l.beta[k-1]*math.Abs(l.vectors[(k-1)*k]) <= lanczosTolerance*math.Abs(theta)
}

// noneBelow tells whether S has no eigenvalue at or below least.
func (l *smallest) noneBelow(s []float64, d int, least float64) bool {
	copy(l.shifted, s)
	for j := range d {
		l.shifted[j*d+j] -= least
	}
	return graph.Factor(l.shifted, d, d)
}
