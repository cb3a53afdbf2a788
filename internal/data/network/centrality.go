package network

import (
	"container/heap"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/printable"
)

// Centrality has a node's centrality measures. The length of an edge of partial correlation r is
// 1/|r| (Opsahl, Agneessens & Skvoretz 2010, doi:10.1016/j.socnet.2010.03.006, as in R's qgraph).
type Centrality struct {
	Strength          float64 // Σ_k |r_jk|
	ExpectedInfluence float64 // Σ_k r_jk (Robinaugh, Millner & McNally 2016, doi:10.1037/abn0000181)
	// Closeness is 1/Σ_k d_jk over reachable nodes, d lengths of shortest paths; NaN if there are none.
	Closeness float64
	// Betweenness is the number of pairs of other nodes whose shortest path passes through the
	// node; equally short paths share a pair (Freeman 1977). Each pair counts once, as in igraph.
	Betweenness float64
	// Predictability is R² of the node given all others; NaN if unknown (Predictability).
	Predictability float64
	Bridge         *Bridge // nil without groups, and for a node without a group
}

// Bridge measures how a node j connects its group to other groups (Jones, Ma & McNally 2021,
// doi:10.1080/00273171.2019.1614898), as R's networktools::bridge. Paths use positive edges only.
type Bridge struct {
	Strength          float64 // Σ_k |r_jk|
	ExpectedInfluence float64 // Σ_k r_jk
	TwoStep           float64 // ExpectedInfluence + Σ_l r_jl Σ_k r_lk, over all nodes l
	Closeness         float64 // 1/mean of the lengths d_jk of the shortest paths to reachable k; NaN if there are none
	Betweenness       float64 // as Centrality.Betweenness, for pairs of nodes of different groups
}

const mostBetween = 50_000_000

// Centralities returns the centralities of the nodes, without Predictability and Bridge
// (docs/theory/centrality.md#eq-centrality).
func (n *Network) Centralities() []Centrality {
	out := make([]Centrality, len(n.Nodes))
	next := make([][]step, len(n.Nodes))
	for _, e := range n.Edges {
		j, k, size := e.Ends[0], e.Ends[1], e.Weight()
		for _, end := range []int{j, k} {
			out[end].Strength += size
			out[end].ExpectedInfluence += e.PartialCorrelation
		}
		if size > 0 {
			next[j] = append(next[j], step{k, 1 / size})
			next[k] = append(next[k], step{j, 1 / size})
		}
	}
	reached, total, between := n.paths(next, nil)
	for j := range out {
		out[j].Closeness, out[j].Betweenness, out[j].Predictability = math.NaN(), between[j], math.NaN()
		if reached[j] > 0 {
			out[j].Closeness = 1 / total[j]
		}
	}
	return out
}

// SetBridges sets Bridge by each node's group (docs/theory/centrality.md#eq-bridge), with at least two groups.
func (n *Network) SetBridges(of []Centrality, groups map[string]string) {
	group, names := n.Numbered(groups)
	if len(names) < 2 {
		return
	}
	type half struct { // an edge from one of its ends
		from, to int
		r        float64
	}
	var halves []half
	for _, e := range n.Edges {
		if j, k := e.Ends[0], e.Ends[1]; group[j] >= 0 && group[k] >= 0 {
			halves = append(halves, half{j, k, e.PartialCorrelation}, half{k, j, e.PartialCorrelation})
		}
	}
	bridges, next := make([]Bridge, len(n.Nodes)), make([][]step, len(n.Nodes))
	influence := mat.NewDense(len(n.Nodes), len(names), nil) // of a node on a group
	for _, h := range halves {
		influence.Set(h.from, group[h.to], influence.At(h.from, group[h.to])+h.r)
		if group[h.from] != group[h.to] {
			bridges[h.from].Strength += math.Abs(h.r)
		}
		if h.r > 0 {
			next[h.from] = append(next[h.from], step{h.to, 1 / h.r})
		}
	}
	outside := func(j, home int) float64 {
		row := influence.RawRowView(j)
		return floats.Sum(row[:home]) + floats.Sum(row[home+1:])
	}
	for _, h := range halves {
		bridges[h.from].TwoStep += h.r * outside(h.to, group[h.from])
	}
	reached, total, between := n.paths(next, group)
	for j := range bridges {
		if group[j] < 0 {
			continue
		}
		b := &bridges[j]
		b.ExpectedInfluence = outside(j, group[j])
		b.TwoStep += b.ExpectedInfluence
		b.Closeness, b.Betweenness = float64(reached[j])/total[j], between[j]
		of[j].Bridge = b
	}
}

// Numbered returns the number of each node's group, in order of appearance, −1 for none, and the groups' names.
func (n *Network) Numbered(groups map[string]string) (of []int, names []string) {
	for _, node := range n.Nodes {
		at := -1
		if name := groups[node]; name != "" {
			if at = slices.Index(names, name); at < 0 {
				at, names = len(names), append(names, name)
			}
		}
		of = append(of, at)
	}
	return of, names
}

type step struct {
	node   int
	length float64
}

// paths returns, for each node, the number of reachable nodes, the sum of shortest path lengths to
// them, and its betweenness; NaN beyond mostBetween. With groups only pairs of different groups count.
func (n *Network) paths(next [][]step, group []int) (reached []int, total, between []float64) {
	reached, total, between = make([]int, len(next)), make([]float64, len(next)), make([]float64, len(next))
	for source := range next {
		if len(n.Nodes)*len(n.Edges) > mostBetween {
			total[source], between[source] = math.NaN(), math.NaN()
			continue
		}
		reached[source], total[source] = brandes(next, source, group, between)
	}
	return reached, total, between
}

// tie is the relative difference of lengths that counts as equal (rounding).
const tie = 1e-10

// brandes adds the shortest paths from one node to the betweenness of all, and returns the number
// of nodes reached and the sum of their distances (Brandes 2001,
// doi:10.1080/0022250X.2001.9990249). gonum's BetweennessWeighted has no groups, and lists every shortest path.
func brandes(next [][]step, source int, group []int, between []float64) (reached int, total float64) {
	n := len(next)
	far, paths, before := make([]float64, n), make([]float64, n), make([][]int, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	far[source], paths[source] = 0, 1
	done := make([]bool, n)
	var order []int // order in which nodes are settled
	for waiting := (&nearest{{source, 0}}); waiting.Len() > 0; {
		v := heap.Pop(waiting).(step).node
		if done[v] {
			continue
		}
		done[v] = true
		order = append(order, v)
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
	share := make([]float64, n)
	for i := len(order) - 1; i > 0; i-- {
		w, counted := order[i], 0.0
		if group == nil || group[w] != group[source] {
			reached, total, counted = reached+1, total+far[w], 1
		}
		for _, v := range before[w] {
			share[v] += paths[v] / paths[w] * (counted + share[w])
		}
		between[w] += share[w] / 2 // each pair is met from both of its ends
	}
	return reached, total
}

type nearest []step

func (q nearest) Len() int           { return len(q) }
func (q nearest) Less(i, j int) bool { return q[i].length < q[j].length }
func (q nearest) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

func (q *nearest) Push(x any) { *q = append(*q, x.(step)) }

func (q *nearest) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func WriteCentrality(w io.Writer, names []string, of []Centrality) error {
	return csv.NewWriter(w).WriteAll(CentralityTable(names, of))
}

// CentralityTable has a header and a line for each name, with bridge columns if a node has a Bridge.
// Unknown values are empty.
func CentralityTable(names []string, of []Centrality) [][]string {
	header := []string{"node", "strength", "expected_influence", "closeness", "betweenness", "predictability"}
	bridged := slices.ContainsFunc(of, func(v Centrality) bool { return v.Bridge != nil })
	if bridged {
		header = append(header, "bridge_strength", "bridge_expected_influence", "bridge_expected_influence_2", "bridge_closeness", "bridge_betweenness")
	}
	lines := [][]string{header}
	for i, name := range names {
		v := of[i]
		numbers := []float64{v.Strength, v.ExpectedInfluence, v.Closeness, v.Betweenness, v.Predictability}
		if b := v.Bridge; b != nil {
			numbers = append(numbers, b.Strength, b.ExpectedInfluence, b.TwoStep, b.Closeness, b.Betweenness)
		}
		line := make([]string, len(header))
		line[0] = printable.Text(name)
		for k, x := range numbers {
			if !math.IsNaN(x) {
				line[k+1] = number(x)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// Predictability is the share of each node's variance explained by all others, for a normal
// distribution with precision P = Σ⁻¹ (Haslbeck & Waldorp 2018, doi:10.3758/s13428-017-0910-x;
// docs/theory/centrality.md#eq-predictability):
//
//	R²_j = 1 − Var(x_j | others)/Var(x_j) = 1 − 1/(P_jj Σ_jj).
//
// It fails if P is not positive definite.
func Predictability(p mat.Symmetric) ([]float64, error) {
	var factors mat.Cholesky
	if !factors.Factorize(p) {
		return nil, fmt.Errorf("network: the precision is not positive definite, so predictability is undefined")
	}
	var covariance mat.SymDense
	if err := factors.InverseTo(&covariance); err != nil {
		return nil, fmt.Errorf("network: shares of variance: %w", err)
	}
	out := make([]float64, p.SymmetricDim())
	for j := range out {
		if r := 1 - 1/(p.At(j, j)*covariance.At(j, j)); r > 1e-12 { // else rounding
			out[j] = r
		}
	}
	return out, nil
}
