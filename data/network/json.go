package network

import (
	"encoding/json"
	"io"
)

type jsonEdge struct {
	From               string  `json:"from"`
	To                 string  `json:"to"`
	Weight             float64 `json:"weight"`
	PartialCorrelation float64 `json:"partial_correlation"`
	Precision          float64 `json:"precision"`
	Sign               string  `json:"sign"`
}

// WriteJSON writes {"nodes": […], "edges": [{"from", "to", "weight",
// "partial_correlation", "precision", "sign"}]}. It fails if a number is not finite.
func (n *Network) WriteJSON(w io.Writer) error {
	file := struct {
		Nodes []string   `json:"nodes"`
		Edges []jsonEdge `json:"edges"`
	}{Nodes: append([]string{}, n.Nodes...), Edges: []jsonEdge{}}
	for _, e := range n.Edges {
		file.Edges = append(file.Edges, jsonEdge{e.From, e.To, e.Weight(), e.PartialCorrelation, e.Precision, e.Sign()})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(file)
}
