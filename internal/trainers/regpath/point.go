package regpath

import (
	"math"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/gaussian/sparse"
)

// Point is the path at one λ, for the columns as the path saw them, usually standardised.
type Point struct {
	Lambda        float64
	Packed        []float64      // P in the order of graph.PackedIndex; nil with Sparse
	Sparse        *sparse.Matrix // P for more than DenseColumns columns
	Linear        []float64      // η = Pμ; nil if the mean is fixed
	Edges         int
	Loss          float64 // reported loss (M) without the penalty, mean over rows, columns and the block
	Change        float64 // largest change of an element of P over the block
	EffectiveSize float64 // mean over the block; NaN without weights
	Projections   int     // iterations that projected P to positive definite matrices
	Iterations    int
	Unfinished    bool // accelerated, em: not converged within the limit
	Stuck         bool // accelerated: more iterations would not help, because the loss falls towards a P that is not positive definite
}

// DenseColumns is the number of columns up to which points store P densely.
const DenseColumns = 300

func (p *Point) setPrecision(packed []float64, d int) {
	if p.Packed, p.Sparse = nil, nil; d > DenseColumns {
		p.Sparse = sparse.FromPacked(packed, d)
	} else {
		p.Packed = slices.Clone(packed)
	}
}

func (p Point) sparse(d int) *sparse.Matrix {
	if p.Sparse == nil {
		return sparse.FromPacked(p.Packed, d)
	}
	return p.Sparse.Clone()
}

// precision returns P; the result must not be modified.
func (p Point) precision(d int) []float64 {
	if p.Sparse == nil {
		return p.Packed
	}
	packed := make([]float64, d*(d+1)/2)
	p.Sparse.ToPacked(packed)
	return packed
}

// mean returns μ = P⁻¹η if η is fitted, else 0; NaN if P is singular.
func (p Point) mean(d int) []float64 {
	if p.Linear == nil {
		return make([]float64, d)
	}
	return p.model(d).Mean()
}

func (p Point) model(d int) *model.Gaussian {
	m := model.NewGaussian(d, model.Natural)
	copy(m.Packed.Value, p.precision(d))
	copy(m.Location.Value, p.Linear)
	return m
}

func (p Point) element(d, j, k int) float64 {
	if p.Sparse == nil {
		return p.Packed[graph.PackedIndex(d, min(j, k), max(j, k))]
	}
	return p.Sparse.Element(j, k)
}

// PartialCorrelation returns −P_jk/√(P_jj P_kk) of columns j < k of d.
func (p Point) PartialCorrelation(d, j, k int) float64 {
	v := p.element(d, j, k)
	if v == 0 {
		return 0 // not −0
	}
	return -v / math.Sqrt(p.element(d, j, j)) / math.Sqrt(p.element(d, k, k))
}

// sizes returns the absolute partial correlations in the order of network.Adjacency.
func sizes(packed []float64, d int) (out []float64) {
	p := Point{Packed: packed}
	eachPair(d, func(_, j, k int) { out = append(out, math.Abs(p.PartialCorrelation(d, j, k))) })
	return out
}

// Adjacency has the pairs with |P_jk| above threshold.
func (p Point) Adjacency(d int, threshold float64) network.Adjacency {
	a := network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}
	p.EachEdge(d, threshold, func(j, k int) { a.Edge[j*(2*d-j-1)/2+k-j-1] = true })
	return a
}

// EachEdge visits the edges j < k of the point's network.
func (p Point) EachEdge(d int, threshold float64, visit func(j, k int)) {
	if p.Sparse != nil {
		for i, at := range p.Sparse.At {
			if math.Abs(p.Sparse.Value[i]) > threshold {
				visit(int(at[0]), int(at[1]))
			}
		}
		return
	}
	eachPair(d, func(_, j, k int) {
		if math.Abs(p.Packed[graph.PackedIndex(d, j, k)]) > threshold {
			visit(j, k)
		}
	})
}

// Adjacency has the pairs with |P_jk| above threshold.
func Adjacency(packed []float64, d int, threshold float64) network.Adjacency {
	return Point{Packed: packed}.Adjacency(d, threshold)
}

// without marks the elements of a packed P whose pairs are no edges.
func without(edges []bool, d int) []bool {
	held := make([]bool, d*(d+1)/2)
	eachPair(d, func(i, j, k int) { held[graph.PackedIndex(d, j, k)] = !edges[i] })
	return held
}

func count(done []bool) (n int) {
	for _, d := range done {
		if d {
			n++
		}
	}
	return n
}
