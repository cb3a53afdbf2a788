package network

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"missingscore/internal/printable"
)

// widest is the pen width, in points, of a partial correlation of 1.
const widest = 8

// dotName is always quoted, because names like <b> or node have a meaning in DOT.
func dotName(name string) string { return `"` + escape.Replace(printable.Text(name)) + `"` }

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// WriteDOT writes an undirected graph for Graphviz: pen width proportional to |partial
// correlation|, positive edges solid blue, negative ones dashed red, edges without a sign grey.
func (n *Network) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("strict graph network {\n\t// Node definitions.\n")
	for _, name := range n.Nodes {
		fmt.Fprintf(b, "\t%s;\n", dotName(name))
	}
	if len(n.Edges) > 0 {
		b.WriteString("\n\t// Edge definitions.\n")
	}
	for _, e := range slices.SortedFunc(slices.Values(n.Edges), func(a, b Edge) int { return slices.Compare(a.Ends[:], b.Ends[:]) }) {
		style := "color=\"#2166AC\"\n\t\tstyle=solid"
		switch e.Sign() {
		case "-":
			style = "color=\"#B2182B\"\n\t\tstyle=dashed"
		case "":
			style = "color=\"#555555\"\n\t\tstyle=solid"
		}
		fmt.Fprintf(b, "\t%s -- %s [\n\t\tpenwidth=%.3f\n\t\t%s\n", dotName(e.From), dotName(e.To), widest*e.Weight(), style)
		known := slices.Delete(e.signed(), 3, 4)
		known[1], known[2] = known[2], known[1]
		for _, a := range known {
			fmt.Fprintf(b, "\t\t%s=%q\n", a.name, a.text())
		}
		b.WriteString("\t];\n")
	}
	b.WriteString("}\n")
	return b.Flush()
}
