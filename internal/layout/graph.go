package layout

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// graph is a network whose nodes are in the order of their names.
type graph struct {
	next [][]neighbour // of each node, in order
}

type neighbour struct {
	node   int
	length float64
}

// lengthPower says how lengths of edges come from their strengths: an edge of a quarter of the
// strongest's weight is twice as long.
const lengthPower = 0.5

// newGraph takes edges whose ends are rank[From] and rank[To]. The strongest is 1 long, others
// (strongest/weight)^lengthPower, to six decimals: what rounding in an estimate changes, as
// another order of rows does, is not to change the picture.
func newGraph(n int, edges []Edge, rank []int) graph {
	strongest := 0.0
	usable := func(e Edge) bool { return e.From != e.To && e.Weight > 0 && !math.IsInf(e.Weight, 1) }
	for _, e := range edges {
		if usable(e) {
			strongest = max(strongest, e.Weight)
		}
	}
	g := graph{next: make([][]neighbour, n)}
	for _, e := range edges {
		if !usable(e) {
			continue
		}
		length := math.Round(1e6*math.Pow(strongest/e.Weight, lengthPower)) / 1e6
		a, b := rank[e.From], rank[e.To]
		g.next[a] = append(g.next[a], neighbour{b, length})
		g.next[b] = append(g.next[b], neighbour{a, length})
	}
	for _, list := range g.next {
		slices.SortFunc(list, func(a, b neighbour) int { return cmp.Compare(a.node, b.node) })
	}
	return g
}

// parts are the nodes of each connected part in order, the largest part first, of equal ones
// that of the first node.
func (g graph) parts() [][]int {
	seen := make([]bool, len(g.next))
	var parts [][]int
	for start := range g.next {
		if seen[start] {
			continue
		}
		seen[start] = true
		part := []int{start}
		for i := 0; i < len(part); i++ {
			for _, e := range g.next[part[i]] {
				if !seen[e.node] {
					seen[e.node] = true
					part = append(part, e.node)
				}
			}
		}
		slices.Sort(part)
		parts = append(parts, part)
	}
	slices.SortStableFunc(parts, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return parts
}

// distances are the lengths of the shortest paths between the nodes of a connected part,
// (k, k) by rows (Dijkstra 1959).
func (g graph) distances(part []int) []float64 {
	k := len(part)
	place := map[int]int{}
	for i, node := range part {
		place[node] = i
	}
	all := make([]float64, k*k)
	for i := range all {
		all[i] = math.Inf(1)
	}
	for i, source := range part {
		from := all[i*k : (i+1)*k]
		from[i] = 0
		reached := &queue{{source, 0}}
		for reached.Len() > 0 {
			at := heap.Pop(reached).(neighbour)
			if at.length > from[place[at.node]] {
				continue
			}
			for _, e := range g.next[at.node] {
				if far := at.length + e.length; far < from[place[e.node]] {
					from[place[e.node]] = far
					heap.Push(reached, neighbour{e.node, far})
				}
			}
		}
	}
	for i := range k { // of two ways that are equally long, rounding may choose another from each side
		for j := range i {
			all[i*k+j] = all[j*k+i]
		}
	}
	return all
}

// queue gives the nearest node first, of equally near ones the first.
type queue []neighbour

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return q[i].length < q[j].length || q[i].length == q[j].length && q[i].node < q[j].node
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(neighbour)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
