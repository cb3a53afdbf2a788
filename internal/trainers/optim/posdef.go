package optim

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/lanczos"
)

// PositiveDefinite keeps the smallest eigenvalue of a packed P (d, d) at Floor or above.
type PositiveDefinite struct {
	Floor float64

	factor       *gaussian.Elimination
	root, scaled []float64 // work space; the upper triangle of scaled is read
}

// Project shrinks all off-diagonal elements by −1 / λ_min(E^(−½) (P − D) E^(−½)) if the smallest
// eigenvalue is below floor, D the diagonal, at least 2·floor, E = D − floor·I.
func (h *PositiveDefinite) Project(g *model.Gaussian) (changed bool) {
	return h.ProjectPacked(g.Packed.Value, g.Dim())
}

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
	least, err := lanczos.Smallest(context.Background(), d, func(y, x []float64) {
		blas64.Symv(1, matrix, blas64.Vector{N: d, Inc: 1, Data: x}, 0, blas64.Vector{N: d, Inc: 1, Data: y})
	})
	if err == nil && least < -1 {
		for j := range d {
			floats.Scale(-1/least, packed[graph.PackedIndex(d, j, j)+1:][:d-j-1])
		}
	}
	return true
}

// Inside reports whether P − floor·I has a Cholesky factor.
func (h *PositiveDefinite) Inside(g *model.Gaussian) bool {
	return h.InsidePacked(g.Packed.Value, g.Dim())
}

func (h *PositiveDefinite) InsidePacked(packed []float64, d int) bool {
	if h.factor == nil {
		h.factor = gaussian.NewElimination(d, graph.Factor)
	}
	_, ok := h.factor.Factor(func(j int) []float64 { return packed[graph.PackedIndex(d, j, j):][:d-j] }, h.Floor)
	return ok
}
