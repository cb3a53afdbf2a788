package optim

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/lanczos"
)

// PositiveDefinite keeps a symmetric matrix P (d, d), packed (graph.PackedIndex) as a precision
// is, such that its smallest eigenvalue is Floor or more.
type PositiveDefinite struct {
	Floor float64

	lower, root, scaled []float64 // work space; of the last the upper triangle is read
	search              lanczos.Search
}

// Project keeps P positive definite: if its smallest eigenvalue is under floor, all its
// off-diagonal elements are shrunk by one factor until it is floor. With D the diagonal,
// nowhere under 2·floor, and E = D − floor·I, the factor is
//
//	−1 / λ_min(E^(−½) (P − D) E^(−½))
//
// Zeros stay zeros, P stays symmetric, and no off-diagonal element grows.
func (h *PositiveDefinite) Project(g *model.Gaussian) (changed bool) {
	return h.ProjectPacked(g.Packed.Value, g.Dim())
}

// ProjectPacked is Project for the packed matrix itself.
func (h *PositiveDefinite) ProjectPacked(packed []float64, d int) (changed bool) {
	if h.InsidePacked(packed, d) {
		return false
	}
	if len(h.root) != d {
		h.root, h.scaled = make([]float64, d), make([]float64, d*d)
	}
	for j := range d {
		at := graph.PackedIndex(d, j, j)
		packed[at] = max(packed[at], 2*h.Floor)
		h.root[j] = math.Sqrt(packed[at] - h.Floor)
	}
	for j := range d {
		for k, v := range packed[graph.PackedIndex(d, j, j)+1:][:d-j-1] {
			k += j + 1
			h.scaled[j*d+k] = v / (h.root[j] * h.root[k])
		}
	}
	matrix := blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: h.scaled}
	least, err := h.search.Smallest(context.Background(), d, func(y, x []float64) {
		blas64.Symv(1, matrix, blas64.Vector{N: d, Inc: 1, Data: x}, 0, blas64.Vector{N: d, Inc: 1, Data: y})
	})
	if err == nil && least < -1 {
		for j := range d {
			floats.Scale(-1/least, packed[graph.PackedIndex(d, j, j)+1:][:d-j-1])
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
