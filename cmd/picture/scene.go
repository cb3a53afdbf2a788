package picture

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/data/network"
	"missingscore/internal/printable"
)

const (
	MostLinks = 1500
	// mostNamed is the number of nodes up to which all are drawn and named.
	mostNamed = 100
)

type Style struct {
	GroupOf map[string]string // of nodes; nil: modules are found
	Layout  map[string]r2.Vec // places of nodes, the y axis pointing up; others are placed by their edges
	Limits
	NodeSize string // the column of centrality.csv that sizes of nodes show; "": all are equal
	Theme    Theme
}

// Limits say which edges are drawn and how wide, as qgraph's arguments. NaN is the default.
//
//   - Edges of size |r| < Minimum are not drawn. The default is 0 or, if 20 or more nodes have more
//     than four edges each (Hairball), the size of the 3n-th strongest edge, two digits rounded down.
//   - With Cut > 0 edges of |r| ≥ Cut grow wide with |r| − Cut, and weaker ones are thin and pale. The
//     default is 0 for less than 20 nodes, else the third quartile of sizes or, with more than 3n
//     edges, the 2n-th strongest, if that is larger.
//   - Maximum is the size of the widest line, at least the strongest edge. The default is 0.
type Limits struct{ Minimum, Cut, Maximum float64 }

func Usual() Limits { return Limits{math.NaN(), math.NaN(), math.NaN()} }

// Of replaces the defaults by the limits for a network.
func (l Limits) Of(n *network.Network) (out Limits, hairball bool) {
	var sizes []float64
	for _, e := range n.Edges {
		if size := math.Abs(e.PartialCorrelation); size > 0 {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	nodes, edges := len(n.Nodes), len(sizes)
	strongest := func(k int) float64 { return sizes[edges-k] }
	many := nodes >= 20 && edges > 0
	if hairball = math.IsNaN(l.Minimum) && many && edges > 4*nodes; hairball {
		least := strongest(3 * nodes)
		digits := math.Pow(10, 1-math.Floor(math.Log10(least)))
		l.Minimum = math.Floor(least*digits) / digits
	}
	if math.IsNaN(l.Cut) && many {
		at := 0.75 * float64(edges-1) // R's quantile of type 7
		k := int(at)
		l.Cut = sizes[k] + (at-float64(k))*(sizes[min(k+1, edges-1)]-sizes[k])
		if edges > 3*nodes {
			l.Cut = max(l.Cut, strongest(2*nodes))
		}
	}
	for _, of := range []*float64{&l.Minimum, &l.Cut, &l.Maximum} {
		if math.IsNaN(*of) {
			*of = 0
		}
	}
	if edges > 0 {
		l.Maximum = max(l.Maximum, strongest(1))
	}
	l.Maximum = max(l.Maximum, l.Cut)
	return l, hairball
}

// share is how wide and how coloured an edge is, both from 0 to 1.
func (l Limits) share(size float64) (wide, coloured float64) {
	part := func(from, to float64) float64 {
		if to <= from { // edges of exactly 0 have no strongest to be compared with
			return 0
		}
		return min(1, max(0, (size-from)/(to-from)))
	}
	if l.Cut > 0 {
		return part(l.Cut, l.Maximum), part(l.Minimum, l.Cut)
	}
	return part(l.Minimum, l.Maximum), part(l.Minimum, l.Maximum)
}

type Scene struct {
	Style
	Labels []string // of nodes, made fit to be drawn
	Places []r2.Vec // the y axis points up
	Group  []int    // of each node, in Groups, −1 for none
	Groups []Group
	Found  bool   // the groups are modules, found from the network
	Shown  []bool // false: in a network of many nodes, without one of the edges by which they are placed
	Weaker int    // edges by which nodes are not placed, for there are MostLinks stronger ones
}

// Group is nodes of one colour. A module that was found has no name.
type Group struct {
	Name   string
	Colour color.NRGBA
}

// NewScene lays out the network by its strongest edges, except nodes in style.Layout. Groups are style.GroupOf, or
// modules if nil.
func NewScene(n *network.Network, style Style) *Scene {
	links := strongest(n)
	s := &Scene{Style: style, Shown: make([]bool, len(n.Nodes)), Weaker: len(n.Edges) - len(links), Places: make([]r2.Vec, len(n.Nodes))}
	for i, name := range n.Nodes {
		s.Labels = append(s.Labels, Short(n.Label(name), mostLines*mostLetters))
		s.Shown[i] = len(n.Nodes) <= mostNamed
	}
	for _, l := range links {
		s.Shown[l.ends[0]], s.Shown[l.ends[1]] = true, true
	}
	var names []string
	var nodes []int // that are shown
	rank := make([]int, len(n.Nodes))
	for i, name := range n.Nodes {
		if s.Shown[i] {
			rank[i] = len(names)
			names, nodes = append(names, name), append(nodes, i)
		}
	}
	var edges []Edge
	for _, l := range links {
		edges = append(edges, Edge{From: rank[l.ends[0]], To: rank[l.ends[1]], Weight: math.Abs(l.pcor)})
	}
	for i, at := range placesFrom(style.Layout, names, edges) {
		s.Places[nodes[i]] = at
	}
	if s.Found = style.GroupOf == nil; s.Found {
		s.Group, s.Groups = modules(len(n.Nodes), links)
	} else {
		var names []string
		s.Group, names = n.Numbered(style.GroupOf)
		for i, name := range names {
			s.Groups = append(s.Groups, Group{Short(name, 40), groupColour(i)})
		}
	}
	return s
}

func (s *Scene) Side() vg.Length {
	long := slices.ContainsFunc(s.Labels, func(label string) bool { return len(Wrap(label)) > 1 })
	switch {
	case len(s.Labels) >= 60 && long && len(s.Labels) <= mostNamed:
		return 30 * vg.Centimeter
	case len(s.Labels) > 30:
		return 24 * vg.Centimeter
	case len(s.Labels) >= 10 && long:
		return 18 * vg.Centimeter
	}
	return 14 * vg.Centimeter
}

// WriteLayout writes name, x and y of the shown nodes, the y axis pointing up.
func (s *Scene) WriteLayout(w io.Writer, names []string) error {
	lines := [][]string{{"name", "x", "y"}}
	for i, at := range s.Places {
		if s.Shown[i] {
			lines = append(lines, []string{printable.Text(names[i]), fmt.Sprintf("%.4f", at.X+0), fmt.Sprintf("%.4f", at.Y+0)})
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

type link struct {
	ends     [2]int
	pcor     float64
	unsigned bool // pcor has no sign
}

func (l link) style(width vg.Length) draw.LineStyle {
	if l.unsigned {
		return unsigned(width)
	}
	return signed(l.pcor, width)
}

// strongest are the MostLinks strongest edges, the strongest last.
func strongest(n *network.Network) (links []link) {
	for _, e := range n.Edges {
		links = append(links, link{e.Ends, e.PartialCorrelation, e.Unsigned})
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(math.Abs(a.pcor), math.Abs(b.pcor)) })
	return links[max(0, len(links)-MostLinks):]
}

const leastModule = 3

// modules are communities by Louvain's method on edge sizes (Blondel et al. 2008), the largest
// first, −1 for none. Modules below leastModule nodes, and a single module, do not count.
func modules(n int, links []link) (of []int, groups []Group) {
	of = slices.Repeat([]int{-1}, n)
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
	largestFirst(found)
	for i, m := range found[:min(len(found), len(palette))] {
		groups = append(groups, Group{Colour: groupColour(i)})
		for _, node := range m {
			of[node.ID()] = i
		}
	}
	return of, groups
}

// weighted iterates over nodes in order, so that results are reproducible.
type weighted struct {
	*simple.WeightedUndirectedGraph
}

func (g weighted) Nodes() graph.Nodes { return inOrder(g.WeightedUndirectedGraph.Nodes()) }

func (g weighted) From(id int64) graph.Nodes { return inOrder(g.WeightedUndirectedGraph.From(id)) }

func inOrder(nodes graph.Nodes) graph.Nodes {
	all := graph.NodesOf(nodes)
	slices.SortFunc(all, byID)
	return iterator.NewOrderedNodes(all)
}

func byID(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) }

// largestFirst sorts parts by size, and the nodes of each by number.
func largestFirst(parts [][]graph.Node) {
	for _, part := range parts {
		slices.SortFunc(part, byID)
	}
	slices.SortFunc(parts, func(a, b []graph.Node) int { return cmp.Or(cmp.Compare(len(b), len(a)), byID(a[0], b[0])) })
}
