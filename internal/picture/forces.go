package picture

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	byforces "gonum.org/v1/gonum/graph/layout"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/spatial/r2"
)

// links is the graph of some edges, weighted by their sizes, with the nodes that they join.
// It tells nodes in the order of their numbers, so that what is computed of it is the same
// every time; simple's order changes.
type links struct {
	*simple.WeightedUndirectedGraph
}

func newLinks(spokes []spoke) *links {
	g := &links{simple.NewWeightedUndirectedGraph(0, 0)}
	for _, s := range spokes {
		g.SetWeightedEdge(g.NewWeightedEdge(simple.Node(s.ends[0]), simple.Node(s.ends[1]), math.Abs(s.pcor)))
	}
	return g
}

// Nodes implements graph.Graph.
func (g *links) Nodes() graph.Nodes { return inOrder(g.WeightedUndirectedGraph.Nodes()) }

// From implements graph.Graph.
func (g *links) From(id int64) graph.Nodes { return inOrder(g.WeightedUndirectedGraph.From(id)) }

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

func sortedIDs[V any](of map[int64]V) []int64 { return slices.Sorted(maps.Keys(of)) }

// unweighted hides the weights, for forces by which all edges pull alike.
type unweighted struct{ graph.Graph }

// arrangeParts places the nodes of each connected part by forces and puts the parts side by
// side in rows, the largest first. A part of k nodes has an area in proportion to k.
func arrangeParts(g *links) map[int64]r2.Vec {
	parts := topo.ConnectedComponents(g)
	for _, p := range parts {
		slices.SortFunc(p, byID)
	}
	slices.SortFunc(parts, larger)
	width := 0.0
	for _, p := range parts {
		width += float64(len(p))
	}
	width = 1.2 * math.Sqrt(width)
	const gap = 0.4
	places := map[int64]r2.Vec{}
	var left, top, row float64
	for _, p := range parts {
		side := math.Sqrt(float64(len(p)))
		if left > 0 && left+side > width {
			left, top, row = 0, top-row-gap, 0
		}
		for id, at := range forced(g, p) {
			places[id] = r2.Add(r2.Vec{X: left + side/2, Y: top - side/2}, r2.Scale(side, at))
		}
		left, row = left+side+gap, max(row, side)
	}
	return places
}

// forced places the nodes of a part in the square of side 1 around 0. Steps are short where
// a node has many edges, which all pull at it, and repulsion grows from little, for nodes
// that begin close together would be thrown apart.
func forced(g *links, part []graph.Node) map[int64]r2.Vec {
	own, most := &links{simple.NewWeightedUndirectedGraph(0, 0)}, 0
	for _, a := range part {
		next := g.From(a.ID())
		most = max(most, next.Len())
		for next.Next() {
			own.SetWeightedEdge(g.WeightedEdge(a.ID(), next.Node().ID()))
		}
	}
	const updates, weakest = 1000, 1e-3
	forces := byforces.EadesR2{Updates: updates, Repulsion: weakest, Rate: 0.25 / float64(2+most), Theta: 0.3, Src: rand.NewPCG(1, uint64(len(part)))}
	laid := byforces.NewOptimizerR2(unweighted{own}, forces.Update)
	for step := 0; laid.Update(); step++ {
		forces.Repulsion = min(1, weakest*math.Pow(1/weakest, float64(step)/(updates/2)))
	}
	places := map[int64]r2.Vec{}
	for _, a := range part {
		places[a.ID()] = laid.Coord2(a.ID())
	}
	low, high := bounds(places)
	middle, span := r2.Scale(0.5, r2.Add(low, high)), max(high.X-low.X, high.Y-low.Y, 1e-9)
	for id, p := range places {
		places[id] = r2.Scale(1/span, r2.Sub(p, middle))
	}
	return places
}

// bounds are the corners of the rectangle around places.
func bounds(places map[int64]r2.Vec) (low, high r2.Vec) {
	low, high = r2.Vec{X: math.Inf(1), Y: math.Inf(1)}, r2.Vec{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, p := range places {
		low = r2.Vec{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = r2.Vec{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	return low, high
}
