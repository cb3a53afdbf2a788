package optim

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Proximal is the step of the L1 path (maths.md, "L1 path"): a gradient step of
// size Rate on θ, then soft-thresholding of the off-diagonal precisions by
// Lambda·Rate, which makes exact zeros.
type Proximal struct{ Rate, Lambda float64 }

// Step changes a packed symmetric matrix of size d in place.
func (p Proximal) Step(packed, grad []float64, d int) {
	for j, i := 0, 0; j < d; j++ {
		for k := j; k < d; k, i = k+1, i+1 {
			packed[i] -= p.Rate * grad[i]
			if k > j {
				packed[i] = softThreshold(packed[i], p.Lambda*p.Rate)
			}
		}
	}
}

// softThreshold is sign(x)·max(|x| − t, 0).
func softThreshold(x, t float64) float64 {
	switch {
	case x > t:
		return x - t
	case x < -t:
		return x + t
	}
	return 0
}

// holder keeps a precision's smallest eigenvalue at floor or above.
type holder struct {
	floor float64
	upper []float64 // work space
}

// hold keeps P positive definite: if its smallest eigenvalue is under floor, all its
// off-diagonal elements are shrunk by one factor until it is floor. With D the diagonal,
// nowhere under 2·floor, and E = D − floor·I, the factor is
//
//	−1 / λ_min(E^(−½) (P − D) E^(−½))
//
// Zeros stay zeros, P stays symmetric, and nothing grows. (A diagonal that is raised
// instead grows without bound where step after step leads out of the positive definite
// matrices: up to 10²⁹ on daily returns with Zeroed.)
func (h *holder) hold(g *model.Gaussian) (held bool) {
	floor := h.floor
	if h.above(g) {
		return false
	}
	p := g.Precision()
	d := g.Dim()
	scaled := mat.NewSymDense(d, nil)
	scale := func(j int) float64 { return math.Sqrt(p.At(j, j) - floor) }
	for j := range d {
		p.SetSym(j, j, max(p.At(j, j), 2*floor))
	}
	for j := range d {
		for k := j + 1; k < d; k++ {
			scaled.SetSym(j, k, p.At(j, k)/(scale(j)*scale(k)))
		}
	}
	factor := 1.0
	if least := smallestEigenvalue(scaled); least < -1 {
		factor = -1 / least
	}
	for j := range d {
		g.Packed.Value[graph.PackedIndex(d, j, j)] = p.At(j, j)
		for k := j + 1; k < d; k++ {
			g.Packed.Value[graph.PackedIndex(d, j, k)] = factor * p.At(j, k)
		}
	}
	return true
}

// above tells whether P's smallest eigenvalue is above floor: whether P − floor·I has a
// Cholesky factor. (mat.Cholesky would estimate its condition too, at the same cost.)
func (h *holder) above(g *model.Gaussian) bool {
	d, packed := g.Dim(), g.Packed.Value
	if h.upper == nil {
		h.upper = make([]float64, d*d)
	}
	for j := range d {
		copy(h.upper[j*d+j:j*d+d], packed[graph.PackedIndex(d, j, j):])
		h.upper[j*d+j] -= h.floor
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: h.upper})
	return ok
}

func smallestEigenvalue(p mat.Symmetric) float64 {
	var e mat.EigenSym
	if !e.Factorize(p, false) {
		return 0
	}
	return e.Values(nil)[0]
}
