package network

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"

	"missingscore/internal/printable"
)

// widest is the pen width, in points, of a partial correlation of 1.
const widest = 8

type dotNode struct {
	simple.Node
	name string
}

// DOTID is always quoted, because names like <b> or node have a meaning in DOT.
func (n dotNode) DOTID() string { return `"` + escape.Replace(printable.Text(n.name)) + `"` }

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

type dotEdge struct {
	graph.Edge
	edge Edge
}

func (e dotEdge) Attributes() []encoding.Attribute {
	colour, line := "#2166AC", "solid"
	switch e.edge.Sign() {
	case "-":
		colour, line = "#B2182B", "dashed"
	case "":
		colour = "#555555"
	}
	out := []encoding.Attribute{
		{Key: "penwidth", Value: strconv.FormatFloat(widest*math.Abs(e.edge.PartialCorrelation), 'f', 3, 64)},
		{Key: "color", Value: strconv.Quote(colour)},
		{Key: "style", Value: line},
		{Key: "weight", Value: strconv.Quote(number(e.edge.Weight()))},
		{Key: "precision", Value: strconv.Quote(number(e.edge.Precision))},
		{Key: "partial_correlation", Value: strconv.Quote(number(e.edge.PartialCorrelation))},
	}
	for _, k := range e.edge.Uncertainty.known() {
		out = append(out, encoding.Attribute{Key: k[0], Value: strconv.Quote(k[1])})
	}
	return out
}

// WriteDOT writes an undirected graph for Graphviz: pen width proportional to |partial
// correlation|, positive edges solid blue, negative ones dashed red, edges without a sign grey.
func (n *Network) WriteDOT(w io.Writer) error {
	g := simple.NewUndirectedGraph()
	for j, name := range n.Nodes {
		g.AddNode(dotNode{simple.Node(j), name})
	}
	for _, e := range n.Edges {
		g.SetEdge(dotEdge{g.NewEdge(g.Node(int64(e.Ends[0])), g.Node(int64(e.Ends[1]))), e})
	}
	text, err := dot.Marshal(g, "network", "", "\t")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}
