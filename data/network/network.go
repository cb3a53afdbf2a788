// Package network holds estimated networks: which variables are joined, how
// strongly, how well that agrees with a known truth, and the files other programs read.
package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Edge joins two variables by name. Precision is P_jk in the units of the
// precision; PartialCorrelation is in [−1, 1] where P is positive definite.
// The sign of the association is that of the partial correlation.
type Edge struct {
	From, To                      string
	Precision, PartialCorrelation float64
	Uncertainty                   *Uncertainty // nil without inference
}

// Weight is |PartialCorrelation|, a strength as programs for graphs expect it: positive,
// without units.
func (e Edge) Weight() float64 { return math.Abs(e.PartialCorrelation) }

// Sign is "-" for a negative partial correlation, else "+".
func (e Edge) Sign() string {
	if e.PartialCorrelation < 0 {
		return "-"
	}
	return "+"
}

// Network is the estimated structure: all variables in column order, and the
// edges, strongest first. Pairs are all pairs in column order, with their uncertainty; nil
// without inference.
type Network struct {
	Nodes  []string
	Edges  []Edge
	Pairs  []Edge
	Labels map[string]string // what nodes are called where people read, of those that have a label
}

// Label is what a node is called where people read: its label or, without one, its name.
func (n *Network) Label(node string) string { return cmp.Or(n.Labels[node], node) }

// New reads the edges that are in a off the precision p, both of d nodes.
//
//	Precision = P_jk,  PartialCorrelation = −P_jk / √(P_jj P_kk)
//
// Edges are sorted by |partial correlation| decreasing, ties by column order.
// It fails if sizes differ, a name occurs twice, a diagonal entry is not
// positive or an edge's precision is not finite.
func New(names []string, p mat.Symmetric, a Adjacency) (*Network, error) {
	d := p.SymmetricDim()
	if len(names) != d || a.D != d || len(a.Edge) != d*(d-1)/2 {
		return nil, fmt.Errorf("network: %d names and an adjacency of %d nodes (%d pairs) for a precision of size %d",
			len(names), a.D, len(a.Edge), d)
	}
	if _, err := places(names); err != nil {
		return nil, err
	}
	for j, name := range names {
		if v := p.At(j, j); !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("network: the precision of %q is %v, not a positive number", name, v)
		}
	}
	n := &Network{Nodes: slices.Clone(names), Edges: []Edge{}}
	for j := range d {
		for k := j + 1; k < d; k++ {
			if !a.Has(j, k) {
				continue
			}
			w := p.At(j, k)
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return nil, fmt.Errorf("network: the precision of %q – %q is %v, not a finite number", names[j], names[k], w)
			}
			n.Edges = append(n.Edges, Edge{From: names[j], To: names[k], Precision: w, PartialCorrelation: PartialCorrelation(p, j, k)})
		}
	}
	n.sort()
	return n, nil
}

// sort puts the strongest edges first.
func (n *Network) sort() {
	slices.SortStableFunc(n.Edges, func(x, y Edge) int {
		return cmp.Compare(math.Abs(y.PartialCorrelation), math.Abs(x.PartialCorrelation))
	})
}

// Places gives the two node numbers of each edge. It fails if a node's name
// occurs twice or an edge names none of the nodes.
func (n *Network) Places() ([][2]int, error) {
	at, err := places(n.Nodes)
	if err != nil {
		return nil, err
	}
	ends := make([][2]int, len(n.Edges))
	for i, e := range n.Edges {
		for side, name := range [2]string{e.From, e.To} {
			k, ok := at[name]
			if !ok {
				return nil, fmt.Errorf("network: edge %q – %q: no node is named %q", e.From, e.To, name)
			}
			ends[i][side] = k
		}
	}
	return ends, nil
}

func places(names []string) (map[string]int, error) {
	at := make(map[string]int, len(names))
	for j, name := range names {
		if k, twice := at[name]; twice {
			return nil, fmt.Errorf("network: columns %d and %d are both named %q", k+1, j+1, name)
		}
		at[name] = j
	}
	return at, nil
}
