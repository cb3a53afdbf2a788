package network

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"missingscore/internal/printable"
)

// WriteGraphML writes an undirected graph (http://graphml.graphdrawing.org/specification.html):
// nodes n0, n1, … in column order, edges e0, e1, … strongest first with weight,
// partial_correlation, precision, sign ("+", "-" or "") and uncertainty as in WriteEdges.
func (n *Network) WriteGraphML(w io.Writer) error {
	b := bufio.NewWriter(w)
	key := func(of, name string, value any) {
		kind := "double"
		if _, text := value.(string); text {
			kind = "string"
		}
		fmt.Fprintf(b, "  <key id=%q for=%q attr.name=%[1]q attr.type=%[3]q></key>\n", name, of, kind)
	}
	data := func(name, value string) {
		fmt.Fprintf(b, "      <data key=%q>", name)
		xml.EscapeText(b, []byte(value))
		b.WriteString("</data>\n")
	}
	b.WriteString(xml.Header + "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n")
	key("node", "label", "")
	for i, a := range slices.Insert(columns(n.Pairs != nil), 3, attribute{"sign", ""}) {
		key("edge", a.name, a.value)
		if i == 3 && n.Labels != nil {
			key("node", "name", "")
		}
	}
	b.WriteString("  <graph id=\"network\" edgedefault=\"undirected\">\n")
	for j, name := range n.Nodes {
		fmt.Fprintf(b, "    <node id=\"n%d\">\n", j)
		data("label", printable.Text(n.Label(name)))
		if n.Labels != nil {
			data("name", printable.Text(name))
		}
		b.WriteString("    </node>\n")
	}
	for i, e := range n.Edges {
		fmt.Fprintf(b, "    <edge id=\"e%d\" source=\"n%d\" target=\"n%d\">\n", i, e.Ends[0], e.Ends[1])
		for _, a := range e.signed() {
			data(a.name, a.text())
		}
		b.WriteString("    </edge>\n")
	}
	b.WriteString("  </graph>\n</graphml>\n")
	return b.Flush()
}
