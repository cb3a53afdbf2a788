package picture

import (
	"cmp"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// leastModule is the number of nodes from which a module has a colour of its own.
const leastModule = 3

// palette are the colours of groups, of Okabe & Ito (https://jfly.uni-koeln.de/color/), which
// are safe for colour blindness.
var palette = []color.NRGBA{
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, {R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, {R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, {R: 0xF0, G: 0xE4, B: 0x42, A: 0xFF},
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, {R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, {R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, {R: 0x66, G: 0x66, B: 0x66, A: 0xFF},
}

// groupColour is the colour of group i, half way to white so that a name can stand on it;
// beyond the palette groups are grey.
func groupColour(i int) color.NRGBA {
	if i >= len(palette) {
		return color.NRGBA{R: 0xDD, G: 0xDD, B: 0xDD, A: 0xFF}
	}
	lighter := func(c uint8) uint8 { return uint8((int(c) + 0xFF) / 2) }
	c := palette[i]
	return color.NRGBA{R: lighter(c.R), G: lighter(c.G), B: lighter(c.B), A: 0xFF}
}

// modules are groups of nodes with more and stronger edges within than between, found by
// Louvain's method from the sizes of edges (Blondel, Guillaume, Lambiotte & Lefebvre 2008): of
// each of n nodes its group, the largest first, −1 for none. Modules of fewer than leastModule
// nodes are none, and a single one says nothing and is none either.
func modules(n int, links []link) (of []int, groups []Group) {
	of = slices.Repeat([]int{-1}, n)
	if len(links) == 0 {
		return of, nil
	}
	g := weighted{simple.NewWeightedUndirectedGraph(0, 0)}
	for _, l := range links {
		if l.pcor != 0 && l.ends[0] != l.ends[1] {
			g.SetWeightedEdge(g.NewWeightedEdge(simple.Node(l.ends[0]), simple.Node(l.ends[1]), math.Abs(l.pcor)))
		}
	}
	if g.Edges().Len() == 0 {
		return of, nil
	}
	found := community.Modularize(g, 1, rand.NewPCG(1, 1)).Communities()
	found = slices.DeleteFunc(found, func(m []graph.Node) bool { return len(m) < leastModule })
	if len(found) < 2 {
		return of, nil
	}
	for _, m := range found {
		slices.SortFunc(m, byID)
	}
	slices.SortFunc(found, larger)
	for i, m := range found[:min(len(found), len(palette))] {
		groups = append(groups, Group{Colour: groupColour(i)})
		for _, node := range m {
			of[node.ID()] = i
		}
	}
	return of, groups
}

// weighted tells nodes in the order of their numbers, so that what is computed of it is the
// same every time; simple's order changes.
type weighted struct {
	*simple.WeightedUndirectedGraph
}

// Nodes implements graph.Graph.
func (g weighted) Nodes() graph.Nodes { return inOrder(g.WeightedUndirectedGraph.Nodes()) }

// From implements graph.Graph.
func (g weighted) From(id int64) graph.Nodes { return inOrder(g.WeightedUndirectedGraph.From(id)) }

func inOrder(nodes graph.Nodes) graph.Nodes {
	all := graph.NodesOf(nodes)
	slices.SortFunc(all, byID)
	return iterator.NewOrderedNodes(all)
}

func byID(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) }

// larger sorts groups of nodes by size, of equal ones by their first node.
func larger(a, b []graph.Node) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), byID(a[0], b[0]))
}
