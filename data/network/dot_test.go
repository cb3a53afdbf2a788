package network

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
)

// readGraph collects what dot.Unmarshal finds.
type readGraph struct{ *simple.UndirectedGraph }

type readNode struct {
	graph.Node
	id string
}

type readEdge struct {
	graph.Edge
	attributes map[string]string
}

func (g readGraph) NewNode() graph.Node { return &readNode{Node: g.UndirectedGraph.NewNode()} }
func (g readGraph) NewEdge(from, to graph.Node) graph.Edge {
	return &readEdge{g.UndirectedGraph.NewEdge(from, to), map[string]string{}}
}
func (e *readEdge) SetAttribute(a encoding.Attribute) error {
	e.attributes[a.Key] = a.Value
	return nil
}

// SetDOTID undoes the quotes that gonum leaves around "<…>".
func (n *readNode) SetDOTID(id string) {
	n.id = id
	if plain, err := strconv.Unquote(id); err == nil {
		n.id = plain
	}
}

func TestWriteDOT(t *testing.T) {
	n := awkwardNetwork(t)
	var b bytes.Buffer
	require.NoError(t, n.WriteDOT(&b))
	requireGolden(t, "network.dot", b.Bytes())

	g := readGraph{simple.NewUndirectedGraph()}
	require.NoError(t, dot.Unmarshal(b.Bytes(), g))
	at := map[string]int64{}
	for _, v := range graph.NodesOf(g.Nodes()) {
		at[v.(*readNode).id] = v.ID()
	}
	require.ElementsMatch(t, awkward, slices.Collect(maps.Keys(at)))
	require.Len(t, graph.EdgesOf(g.Edges()), len(n.Edges))
	edge := func(from, to string) map[string]string { return g.Edge(at[from], at[to]).(*readEdge).attributes }
	require.Equal(t, map[string]string{"penwidth": "4.800", "color": "#B2182B", "style": "dashed",
		"partial_correlation": "-0.6", "precision": "0.6", "weight": "0.6"}, edge("a<b>&c", "<b>"))
	require.Equal(t, map[string]string{"penwidth": "2.000", "color": "#2166AC", "style": "solid",
		"partial_correlation": "0.25", "precision": "-0.5", "weight": "0.25"}, edge(`say "hi", you`, "a<b>&c"))
}

// A space that does not break, and the joiners of Persian and of emoji, have no escapes in DOT.
func TestDOTNamesStayAsTheyAre(t *testing.T) {
	for name, want := range map[string]string{"price\u00a0EUR": "\"price\u00a0EUR\"", "می\u200cروم": "\"می\u200cروم\"", `a\b "c"` + "\n": `"a\\b \"c\"\n"`} {
		require.Equal(t, want, dotNode{name: name}.DOTID())
	}
}

func TestWriteDOTErrors(t *testing.T) {
	var b bytes.Buffer
	n := &Network{Nodes: []string{"a"}, Edges: []Edge{{From: "a", To: "a"}}}
	require.EqualError(t, n.WriteDOT(&b), `network: "a" is joined to itself`)
	n.Edges[0].To = "b"
	require.ErrorContains(t, n.WriteDOT(&b), `no node is named "b"`)
	require.Zero(t, b.Len())
}
