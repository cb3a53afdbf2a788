package picture

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"

	"missingscore/data/network"
)

const (
	// MostLinks is how many edges a picture has, the strongest.
	MostLinks = 1500
	// mostNamed is the number of nodes up to which all are drawn and named.
	mostNamed = 100
)

// Scene is what pictures of one network, or of two with the same nodes, have in common, on
// paper and on a page: where nodes are, what they are called, how they are coloured.
type Scene struct {
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

// NewScene lays out the network by the sizes of its strongest edges (placesOf).
// Nodes that have a label are shown by it. groups names the group of nodes; where it is nil,
// modules are found from the sizes of edges (modules).
// It fails without nodes, or if an edge joins unknown nodes or is not finite.
func NewScene(n *network.Network, groups map[string]string) (*Scene, error) {
	links, err := strongest(n)
	if err != nil {
		return nil, err
	}
	s := &Scene{Shown: make([]bool, len(n.Nodes)), Weaker: len(n.Edges) - len(links)}
	for i, name := range n.Nodes {
		s.Labels = append(s.Labels, short(n.Label(name), 24))
		s.Shown[i] = len(n.Nodes) <= mostNamed
	}
	var edges []Edge
	for _, l := range links {
		edges = append(edges, Edge{From: l.ends[0], To: l.ends[1], Weight: math.Abs(l.pcor)})
		s.Shown[l.ends[0]], s.Shown[l.ends[1]] = true, true
	}
	s.place(n.Nodes, edges)
	if s.Found = groups == nil; s.Found {
		s.Group, s.Groups = modules(len(n.Nodes), links)
	} else {
		s.Group, s.Groups = named(n.Nodes, groups)
	}
	return s, nil
}

// place lays out the nodes that are shown, and no others.
func (s *Scene) place(names []string, edges []Edge) {
	var shown []string
	var nodes []int // that are shown
	rank := make([]int, len(names))
	for i, name := range names {
		if s.Shown[i] {
			rank[i] = len(shown)
			shown, nodes = append(shown, name), append(nodes, i)
		}
	}
	for i, e := range edges {
		edges[i].From, edges[i].To = rank[e.From], rank[e.To]
	}
	s.Places = make([]r2.Vec, len(names))
	for i, at := range Places(shown, edges) {
		s.Places[nodes[i]] = at
	}
}

// named are the groups of nodes in the order of their first nodes.
func named(nodes []string, groups map[string]string) (of []int, out []Group) {
	known := map[string]int{}
	for _, node := range nodes {
		name := groups[node]
		if name == "" {
			of = append(of, -1)
			continue
		}
		if _, ok := known[name]; !ok {
			known[name] = len(out)
			out = append(out, Group{short(name, 24), groupColour(len(out))})
		}
		of = append(of, known[name])
	}
	return of, out
}

// link is an edge by the numbers of its nodes.
type link struct {
	ends [2]int
	pcor float64
}

// strongest are the MostLinks strongest edges, the strongest last, to be drawn on top.
func strongest(n *network.Network) ([]link, error) {
	if len(n.Nodes) == 0 {
		return nil, fmt.Errorf("picture: the network has no nodes")
	}
	ends, err := n.Places()
	if err != nil {
		return nil, err
	}
	var links []link
	for i, e := range n.Edges {
		r := e.PartialCorrelation
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("picture: the partial correlation of %q – %q is %v", e.From, e.To, r)
		}
		links = append(links, link{ends[i], r})
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(math.Abs(a.pcor), math.Abs(b.pcor)) })
	return links[max(0, len(links)-MostLinks):], nil
}
