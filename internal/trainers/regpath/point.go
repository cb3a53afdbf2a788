package regpath

import (
	"math"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/gaussian/sparse"
)

// Point is the path at one λ, for the columns as the path saw them, usually standardised.
type Point struct {
	Lambda        float64
	P             sparse.Matrix
	Linear        []float64 // η = Pμ; nil if the mean is fixed
	Edges         int
	Loss          float64 // reported loss (M) without the penalty, mean over rows, columns and the block
	Change        float64 // largest change of an element of P over the block
	EffectiveSize float64 // mean over the block; NaN without weights
	Projections   int     // iterations that projected P to positive definite matrices
	Iterations    int
	Unfinished    bool // accelerated, em: not converged within the limit
	Stuck         bool // the loss has no minimum here and at smaller λ
}

// DenseColumns is the number of columns up to which a path may be dense.
const DenseColumns = 300

// PointOf returns a point that is only a packed P.
func PointOf(packed []float64, d int) Point { return Point{P: *sparse.FromPacked(packed, d)} }

func (p Point) Packed() []float64 {
	packed := make([]float64, p.P.D*(p.P.D+1)/2)
	p.P.ToPacked(packed)
	return packed
}

// mean returns μ = P⁻¹η if η is fitted, else 0; NaN if P is singular.
func (p Point) mean() []float64 {
	if p.Linear == nil {
		return make([]float64, p.P.D)
	}
	return p.model().Mean()
}

func (p Point) model() *model.Gaussian {
	m := model.NewGaussian(p.P.D, model.Natural)
	p.P.ToPacked(m.Packed.Value)
	copy(m.Location.Value, p.Linear)
	return m
}

// PartialCorrelation returns −P_jk/√(P_jj P_kk).
func (p Point) PartialCorrelation(j, k int) float64 {
	v := p.P.Element(j, k)
	if v == 0 {
		return 0 // not −0
	}
	return -v / math.Sqrt(p.P.Element(j, j)) / math.Sqrt(p.P.Element(k, k))
}

// sizes returns the absolute partial correlations in the order of network.Adjacency.
func sizes(packed []float64, d int) (out []float64) {
	p := PointOf(packed, d)
	eachPair(d, func(_, j, k int) { out = append(out, math.Abs(p.PartialCorrelation(j, k))) })
	return out
}

// Adjacency has the pairs with |P_jk| above threshold.
func (p Point) Adjacency(threshold float64) network.Adjacency {
	d := p.P.D
	a := network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}
	p.EachEdge(threshold, func(j, k int) { a.Edge[j*(2*d-j-1)/2+k-j-1] = true })
	return a
}

// EachEdge visits the edges j < k of the point's network.
func (p Point) EachEdge(threshold float64, visit func(j, k int)) {
	for i, at := range p.P.At {
		if math.Abs(p.P.Value[i]) > threshold {
			visit(int(at[0]), int(at[1]))
		}
	}
}

// Adjacency has the pairs with |P_jk| above threshold.
func Adjacency(packed []float64, d int, threshold float64) network.Adjacency {
	a := network.Adjacency{D: d}
	eachPair(d, func(_, j, k int) { a.Edge = append(a.Edge, math.Abs(packed[graph.PackedIndex(d, j, k)]) > threshold) })
	return a
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
