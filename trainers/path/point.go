package path

import (
	"math"

	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Point is the path's state at one λ. Columns are as the path saw them, so
// standardised if the table was.
type Point struct {
	Lambda        float64
	Packed        []float64 // P, packed as graph.PackedIndex says
	Linear        []float64 // η = Pμ; nil where the mean is kept
	Edges         int
	Loss          float64 // reported loss (M), mean over rows, columns and the block, without the penalty
	Change        float64 // largest change of an element of P over the block
	EffectiveSize float64 // mean over the block; NaN without weights
	Projections   int     // iterations at which P had to be projected to stay positive definite
	Iterations    int
	Unfinished    bool // accelerated: the stopping rule was not met within the bound
}

// Block gathers what a Point reports.
type Block struct {
	Start       []float64
	Size        float64
	Count       int
	Loss        float64
	Projections int
}

// PartialCorrelation of columns j < k of d at this point, −P_jk/√(P_jj P_kk).
func (p Point) PartialCorrelation(d, j, k int) float64 {
	at := func(j, k int) float64 { return p.Packed[graph.PackedIndex(d, j, k)] }
	if at(j, k) == 0 {
		return 0 // not −0
	}
	return -at(j, k) / math.Sqrt(at(j, j)) / math.Sqrt(at(k, k))
}

// Adjacency is the network of a packed precision of size d: |P_jk| above the threshold.
func Adjacency(packed []float64, d int, threshold float64) network.Adjacency {
	a := network.Adjacency{D: d}
	for j := range d {
		for k := j + 1; k < d; k++ {
			a.Edge = append(a.Edge, math.Abs(packed[graph.PackedIndex(d, j, k)]) > threshold)
		}
	}
	return a
}

// mean is μ at this point: P⁻¹η where the path fits η along, else 0; NaN where P is singular.
func (p Point) mean(d int) []float64 {
	if p.Linear == nil {
		return make([]float64, d)
	}
	g := model.NewGaussian(d, model.Natural)
	copy(g.Packed.Value, p.Packed)
	copy(g.Location.Value, p.Linear)
	return g.Mean()
}
