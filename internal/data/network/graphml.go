package network

import (
	"encoding/xml"
	"fmt"
	"io"

	"missingscore/internal/printable"
)

type graphML struct {
	XMLName xml.Name     `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
	Keys    []graphMLKey `xml:"key"`
	Graph   struct {
		ID          string          `xml:"id,attr"`
		EdgeDefault string          `xml:"edgedefault,attr"`
		Nodes       []graphMLObject `xml:"node"`
		Edges       []graphMLObject `xml:"edge"`
	} `xml:"graph"`
}

type graphMLKey struct {
	ID   string `xml:"id,attr"`
	For  string `xml:"for,attr"`
	Name string `xml:"attr.name,attr"`
	Type string `xml:"attr.type,attr"`
}

type graphMLObject struct {
	ID     string        `xml:"id,attr"`
	Source string        `xml:"source,attr,omitempty"`
	Target string        `xml:"target,attr,omitempty"`
	Data   []graphMLData `xml:"data"`
}

type graphMLData struct {
	Key   string `xml:"key,attr"`
	Value string `xml:",chardata"`
}

// WriteGraphML writes an undirected graph (http://graphml.graphdrawing.org/specification.html):
// nodes n0, n1, … in column order, edges e0, e1, … strongest first with weight,
// partial_correlation, precision, sign ("+", "-" or "") and uncertainty as in WriteEdges.
func (n *Network) WriteGraphML(w io.Writer) error {
	var g graphML
	for _, k := range [][3]string{
		{"node", "label", "string"}, {"edge", "weight", "double"},
		{"edge", "partial_correlation", "double"}, {"edge", "precision", "double"}, {"edge", "sign", "string"},
	} {
		g.Keys = append(g.Keys, graphMLKey{ID: k[1], For: k[0], Name: k[1], Type: k[2]})
	}
	if n.Labels != nil {
		g.Keys = append(g.Keys, graphMLKey{ID: "name", For: "node", Name: "name", Type: "string"})
	}
	if n.Pairs != nil {
		for _, name := range uncertaintyColumns {
			g.Keys = append(g.Keys, graphMLKey{ID: name, For: "edge", Name: name, Type: "double"})
		}
	}
	g.Graph.ID, g.Graph.EdgeDefault = "network", "undirected"
	for j, name := range n.Nodes {
		node := graphMLObject{ID: fmt.Sprint("n", j), Data: []graphMLData{{"label", printable.Text(name)}}}
		if n.Labels != nil {
			node.Data = []graphMLData{{"label", printable.Text(n.Label(name))}, {"name", printable.Text(name)}}
		}
		g.Graph.Nodes = append(g.Graph.Nodes, node)
	}
	for i, e := range n.Edges {
		edge := graphMLObject{
			ID: fmt.Sprint("e", i), Source: fmt.Sprint("n", e.Ends[0]), Target: fmt.Sprint("n", e.Ends[1]),
			Data: []graphMLData{
				{"weight", number(e.Weight())}, {"partial_correlation", number(e.PartialCorrelation)},
				{"precision", number(e.Precision)}, {"sign", e.Sign()},
			},
		}
		for _, k := range e.Uncertainty.known() {
			edge.Data = append(edge.Data, graphMLData{k[0], k[1]})
		}
		g.Graph.Edges = append(g.Graph.Edges, edge)
	}
	text, err := xml.MarshalIndent(g, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
