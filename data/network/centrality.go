package network

import (
	"container/heap"
	"encoding/csv"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/printable"
)

// Centrality is how a node stands in a network, by the sizes |r| of its edges' partial
// correlations r. Lengths of paths are sums of 1/|r| (Opsahl, Agneessens & Skvoretz 2010,
// doi:10.1016/j.socnet.2010.03.006, as in R's qgraph), so that strong edges are short.
type Centrality struct {
	Strength          float64 // Σ_k |r_jk|
	ExpectedInfluence float64 // Σ_k r_jk, signs kept (Robinaugh, Millner & McNally 2016, doi:10.1037/abn0000181)
	// Closeness is 1/Σ_k d_jk with the lengths d of the shortest paths to the nodes that can be
	// reached, NaN where there is none.
	Closeness float64
	// Betweenness is the number of pairs of other nodes whose shortest path leads through the
	// node; of several that are equally short each counts in proportion (Freeman 1977). Pairs
	// are counted once, as by igraph; qgraph counts them twice.
	Betweenness float64
	// Predictability is R² of the node given all others, 1 − 1/(P_jj Σ_jj) for a normal
	// distribution of precision P = Σ⁻¹; NaN where it is not known (Predictability).
	Predictability float64
}

// mostBetween bounds nodes·edges for which paths are followed; beyond it closeness and
// betweenness, which would take minutes, are not known.
const mostBetween = 50_000_000

// Centralities are those of the nodes, in their order, without Predictability
// (docs/theory/centrality.md#eq-centrality). Edges of size
// 0 are no edges here. It fails if the network names a node twice or an unknown one.
func (n *Network) Centralities() ([]Centrality, error) {
	ends, err := n.Places()
	if err != nil {
		return nil, err
	}
	out := make([]Centrality, len(n.Nodes))
	next := make([][]step, len(n.Nodes))
	for i, e := range n.Edges {
		j, k, size := ends[i][0], ends[i][1], e.Weight()
		for _, end := range []int{j, k} {
			out[end].Strength += size
			out[end].ExpectedInfluence += e.PartialCorrelation
		}
		if size > 0 {
			next[j] = append(next[j], step{k, 1 / size})
			next[k] = append(next[k], step{j, 1 / size})
		}
	}
	follow := len(n.Nodes)*len(n.Edges) <= mostBetween
	for j := range out {
		out[j].Closeness, out[j].Predictability = math.NaN(), math.NaN()
		if !follow {
			out[j].Betweenness = math.NaN()
		}
	}
	for source := range out {
		if follow {
			brandes(next, source, out)
		}
	}
	return out, nil
}

// step leads to a node, and is so long.
type step struct {
	node   int
	length float64
}

// tie is by how much of their length two paths may differ and still be equally short: what
// rounding leaves.
const tie = 1e-10

// brandes adds what the shortest paths from one node tell of the betweenness of all, and of its
// own closeness (Brandes 2001, doi:10.1080/0022250X.2001.9990249). gonum's BetweennessWeighted is no
// substitute: it lists every shortest path, of which a lattice has exponentially many, and its maps
// take 15 times as long on 600 nodes.
func brandes(next [][]step, source int, out []Centrality) {
	n := len(next)
	far, paths, before := make([]float64, n), make([]float64, n), make([][]int, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	far[source], paths[source] = 0, 1
	done := make([]bool, n)
	var order []int // in which nodes are reached for good
	total := 0.0
	for waiting := (&nearest{{source, 0}}); waiting.Len() > 0; {
		v := heap.Pop(waiting).(step).node
		if done[v] {
			continue
		}
		done[v] = true
		order, total = append(order, v), total+far[v]
		for _, e := range next[v] {
			w, length := e.node, far[v]+e.length
			switch {
			case done[w]:
			case length < far[w]*(1-tie):
				far[w], paths[w], before[w] = length, paths[v], append(before[w][:0], v)
				heap.Push(waiting, step{w, length})
			case length <= far[w]*(1+tie):
				paths[w] += paths[v]
				before[w] = append(before[w], v)
			}
		}
	}
	if len(order) > 1 {
		out[source].Closeness = 1 / total
	}
	share := make([]float64, n)
	for i := len(order) - 1; i > 0; i-- {
		w := order[i]
		for _, v := range before[w] {
			share[v] += paths[v] / paths[w] * (1 + share[w])
		}
		out[w].Betweenness += share[w] / 2 // each pair is met from both of its ends
	}
}

// nearest is a heap of steps, the shortest first.
type nearest []step

func (q nearest) Len() int           { return len(q) }
func (q nearest) Less(i, j int) bool { return q[i].length < q[j].length }
func (q nearest) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *nearest) Push(x any) { *q = append(*q, x.(step)) }

// Pop implements heap.Interface.
func (q *nearest) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// WriteCentrality writes a line for each name: node, strength, expected_influence, closeness,
// betweenness, predictability; what is not known is empty.
func WriteCentrality(w io.Writer, names []string, of []Centrality) error {
	c := csv.NewWriter(w)
	c.Write([]string{"node", "strength", "expected_influence", "closeness", "betweenness", "predictability"})
	for i, name := range names {
		v := of[i]
		line := []string{printable.Text(name)}
		for _, x := range []float64{v.Strength, v.ExpectedInfluence, v.Closeness, v.Betweenness, v.Predictability} {
			text := ""
			if !math.IsNaN(x) {
				text = number(x)
			}
			line = append(line, text)
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// Predictability is the share of each node's variance that all others explain, of a normal
// distribution with precision P = Σ⁻¹ (Haslbeck & Waldorp 2018, doi:10.3758/s13428-017-0910-x;
// docs/theory/centrality.md#eq-predictability):
//
//	R²_j = 1 − Var(x_j | others)/Var(x_j) = 1 − 1/(P_jj Σ_jj).
//
// It is without units, between 0 and 1. It fails if P is not positive definite.
func Predictability(p mat.Symmetric) ([]float64, error) {
	var factors mat.Cholesky
	if !factors.Factorize(p) {
		return nil, fmt.Errorf("network: the precision is not positive definite, so that no share of variance can be told")
	}
	var covariance mat.SymDense
	if err := factors.InverseTo(&covariance); err != nil {
		return nil, fmt.Errorf("network: shares of variance: %w", err)
	}
	out := make([]float64, p.SymmetricDim())
	for j := range out {
		out[j] = max(0, 1-1/(p.At(j, j)*covariance.At(j, j))) // rounding may leave less than 0
	}
	return out, nil
}
