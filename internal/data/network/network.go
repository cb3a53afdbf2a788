// Package network has estimated networks, their uncertainty, centrality and files.
package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Edge joins the nodes with the indices Ends (Network.Edge makes one). Precision is P_jk; PartialCorrelation has the association's sign.
type Edge struct {
	From, To                      string // names of the nodes
	Ends                          [2]int
	Precision, PartialCorrelation float64
	Uncertainty                   *Uncertainty // nil without inference

	// Unsigned marks an edge with a nominal end: PartialCorrelation is then the largest partial
	// canonical correlation, without sign, and Precision the matching P_jk.
	Unsigned bool
	Together []LevelPair // of an edge with a binary or nominal end: associations of levels
}

func (e Edge) Weight() float64 { return math.Abs(e.PartialCorrelation) }

// Sign is "-" for a negative partial correlation, "" without a sign, else "+".
func (e Edge) Sign() string {
	switch {
	case e.Unsigned:
		return ""
	case e.PartialCorrelation < 0:
		return "-"
	}
	return "+"
}

// Network holds all variables in column order and the edges, strongest first. Pairs holds all pairs
// with their uncertainty; nil without inference.
type Network struct {
	Nodes  []string
	Edges  []Edge
	Pairs  []Edge
	Labels map[string]string // display names of nodes that have one
	Levels [][]string        // level names of each binary or nominal node, nil for others; nil if all are numbers
}

// Edge returns an edge between the nodes j and k.
func (n *Network) Edge(j, k int, precision, partial float64) Edge {
	return Edge{From: n.Nodes[j], To: n.Nodes[k], Ends: [2]int{j, k}, Precision: precision, PartialCorrelation: partial}
}

func (n *Network) Label(node string) string { return cmp.Or(n.Labels[node], node) }

// New makes the network with adjacency a and precision p of d nodes with different names.
//
//	Precision = P_jk,  PartialCorrelation = −P_jk / √(P_jj P_kk)
//
// It fails if a diagonal entry is not positive or an edge's precision is not finite.
func New(names []string, p mat.Symmetric, a Adjacency) (*Network, error) {
	for j, name := range names {
		if v := p.At(j, j); !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("network: the precision of %q is %v, not a positive number", name, v)
		}
	}
	n := &Network{Nodes: slices.Clone(names), Edges: []Edge{}}
	for j := range names {
		for k := j + 1; k < len(names); k++ {
			if !a.Has(j, k) {
				continue
			}
			w := p.At(j, k)
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return nil, fmt.Errorf("network: the precision of %q – %q is %v, not a finite number", names[j], names[k], w)
			}
			n.Edges = append(n.Edges, n.Edge(j, k, w, PartialCorrelation(p, j, k)))
		}
	}
	n.sort()
	return n, nil
}

func (n *Network) sort() {
	slices.SortStableFunc(n.Edges, func(x, y Edge) int {
		return cmp.Compare(math.Abs(y.PartialCorrelation), math.Abs(x.PartialCorrelation))
	})
}

// PairsOfEdges returns the index of each edge in the order of Adjacency.Edge.
func (n *Network) PairsOfEdges() (pairs []int) {
	for _, e := range n.Edges {
		pairs = append(pairs, pairAt(len(n.Nodes), e.Ends[0], e.Ends[1]))
	}
	return pairs
}

// PartialCorrelation is −P_jk / √(P_jj P_kk) without overflow; NaN if a diagonal element is negative.
func PartialCorrelation(p mat.Symmetric, j, k int) float64 {
	return 0 - p.At(j, k)/math.Sqrt(p.At(j, j))/math.Sqrt(p.At(k, k)) // not −0
}

// PartialCorrelations returns the partial correlations of all pairs j < k: (0,1), (0,2), …
func PartialCorrelations(p mat.Symmetric) []float64 {
	d := p.SymmetricDim()
	out := make([]float64, 0, d*(d-1)/2)
	for j := range d {
		for k := j + 1; k < d; k++ {
			out = append(out, PartialCorrelation(p, j, k))
		}
	}
	return out
}

// Adjacency is an undirected graph on D nodes. Edge holds the pairs (0,1), (0,2), …, (1,2), ….
type Adjacency struct {
	D    int
	Edge []bool
}

// Threshold has the edge j–k where |P_jk| > t, for p of shape (D, D) and t ≥ 0 in the units of p.
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

// pairAt is the index of a pair of d nodes, in either order, in Adjacency.Edge.
func pairAt(d, j, k int) int {
	j, k = min(j, k), max(j, k)
	return j*(2*d-j-1)/2 + k - j - 1
}

// Has reports whether j and k are joined, in either order; a node is not joined to itself.
func (a Adjacency) Has(j, k int) bool { return j != k && a.Edge[pairAt(a.D, j, k)] }

func (a Adjacency) Count() int {
	n := 0
	for _, e := range a.Edge {
		if e {
			n++
		}
	}
	return n
}

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
