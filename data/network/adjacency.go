package network

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Adjacency is an undirected graph on D nodes. Edge holds the pairs j<k packed
// row by row, (0,1), (0,2), …, (1,2), …: length D(D−1)/2.
type Adjacency struct {
	D    int
	Edge []bool
}

// Threshold has the edge j–k where |P_jk| > t, for p of shape (D, D) and t ≥ 0
// in the units of p.
func Threshold(p mat.Symmetric, t float64) Adjacency {
	d := p.SymmetricDim()
	a := Adjacency{D: d, Edge: make([]bool, 0, d*(d-1)/2)}
	for j := range d {
		for k := j + 1; k < d; k++ {
			a.Edge = append(a.Edge, math.Abs(p.At(j, k)) > t)
		}
	}
	return a
}

// Has reports whether j and k are joined, in either order; a node is not joined to itself.
func (a Adjacency) Has(j, k int) bool {
	if j > k {
		j, k = k, j
	}
	return j != k && a.Edge[j*(2*a.D-j-1)/2+k-j-1]
}

// Count is the number of edges.
func (a Adjacency) Count() int {
	n := 0
	for _, e := range a.Edge {
		if e {
			n++
		}
	}
	return n
}

// Neighbours are those of each node, in order.
func (a Adjacency) Neighbours() [][]int {
	out := make([][]int, a.D)
	i := 0
	for j := range a.D {
		for k := j + 1; k < a.D; k++ {
			if a.Edge[i] {
				out[j], out[k] = append(out[j], k), append(out[k], j)
			}
			i++
		}
	}
	return out
}

// Density is edges / pairs, and 0 where there are no pairs.
func (a Adjacency) Density() float64 {
	if len(a.Edge) == 0 {
		return 0
	}
	return float64(a.Count()) / float64(len(a.Edge))
}
