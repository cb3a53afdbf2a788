package optim

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
)

// PositiveDefinite keeps a symmetric matrix P (d, d), packed (graph.PackedIndex) as a precision
// is, such that its smallest eigenvalue is Floor or more.
type PositiveDefinite struct {
	Floor float64
	lower []float64 // work space
}

// Project keeps P positive definite: if its smallest eigenvalue is under floor, all its
// off-diagonal elements are shrunk by one factor until it is floor. With D the diagonal,
// nowhere under 2·floor, and E = D − floor·I, the factor is
//
//	−1 / λ_min(E^(−½) (P − D) E^(−½))
//
// Zeros stay zeros, P stays symmetric, and nothing grows. (A diagonal that is raised
// instead grows without bound where step after step leads out of the positive definite
// matrices: up to 10²⁹ on daily returns with Zeroed.)
func (h *PositiveDefinite) Project(g *model.Gaussian) (changed bool) {
	return h.ProjectPacked(g.Packed.Value, g.Dim())
}

// ProjectPacked is Project for the packed matrix itself.
func (h *PositiveDefinite) ProjectPacked(packed []float64, d int) (changed bool) {
	floor := h.Floor
	if h.InsidePacked(packed, d) {
		return false
	}
	p := graph.Unpack(d, packed)
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
		packed[graph.PackedIndex(d, j, j)] = p.At(j, j)
		for k := j + 1; k < d; k++ {
			packed[graph.PackedIndex(d, j, k)] = factor * p.At(j, k)
		}
	}
	return true
}

// Inside tells whether P's smallest eigenvalue is above floor: whether P − floor·I has a
// Cholesky factor. (mat.Cholesky would estimate its condition too, at the same cost.)
func (h *PositiveDefinite) Inside(g *model.Gaussian) bool {
	return h.InsidePacked(g.Packed.Value, g.Dim())
}

// InsidePacked is Inside for the packed matrix itself.
func (h *PositiveDefinite) InsidePacked(packed []float64, d int) bool {
	if h.lower == nil {
		h.lower = make([]float64, d*d)
	}
	for j := range d {
		for k := range j + 1 {
			h.lower[j*d+k] = packed[graph.PackedIndex(d, k, j)]
		}
		h.lower[j*d+j] -= h.Floor
	}
	return graph.Factor(h.lower, d, d)
}

func smallestEigenvalue(p mat.Symmetric) float64 {
	var e mat.EigenSym
	if !e.Factorize(p, false) {
		return 0
	}
	return e.Values(nil)[0]
}
