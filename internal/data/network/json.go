package network

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"missingscore/internal/printable"
	"missingscore/internal/strictjson"
)

// object is a JSON object with its keys in order; numbers that are not finite are null.
type object []attribute

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, a := range o {
		b.WriteByte("{,"[min(i, 1)])
		if x, ok := a.value.(float64); ok {
			a.value = strictjson.Number(x)
		}
		fmt.Fprintf(&b, "%q:", a.name)
		if err := enc.Encode(a.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Uncertain returns from, to and the uncertainty of an edge that has one for JSON, null if unknown.
func (e Edge) Uncertain() json.Marshaler {
	return object(slices.Concat([]attribute{{"from", e.From}, {"to", e.To}}, e.attributes()[3:]))
}

// WriteJSON writes {"nodes": […], "edges": [{"from", "to", "weight", "partial_correlation",
// "precision", "sign"}]}, "labels" by name, and of edges the uncertainty as in WriteEdges and
// "levels" (WriteLevels).
func (n *Network) WriteJSON(w io.Writer) error {
	file := struct {
		Nodes  []string          `json:"nodes"`
		Labels map[string]string `json:"labels,omitempty"`
		Edges  []object          `json:"edges"`
	}{Nodes: append([]string{}, n.Nodes...), Labels: n.Labels, Edges: []object{}}
	for _, e := range n.Edges {
		line := append(object{{"from", e.From}, {"to", e.To}}, e.signed()...)
		if e.Together != nil {
			line = slices.Insert(line, 6, attribute{"levels", e.Together})
		}
		file.Edges = append(file.Edges, line)
	}
	enc := json.NewEncoder(printable.Writer{W: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(file)
}
