package network

import (
	"encoding/json"
	"io"

	"missingscore/internal/printable"
	"missingscore/internal/strictjson"
)

type jsonEdge struct {
	From               string  `json:"from"`
	To                 string  `json:"to"`
	Weight             float64 `json:"weight"`
	PartialCorrelation float64 `json:"partial_correlation"`
	Precision          float64 `json:"precision"`
	Sign               string  `json:"sign"`

	Levels []LevelPair `json:"levels,omitempty"`
	*jsonUncertainty
}

type jsonUncertainty struct {
	Estimate  strictjson.Number `json:"estimate,omitzero"`
	SE        strictjson.Number `json:"se,omitzero"`
	Low       strictjson.Number `json:"low,omitzero"`
	High      strictjson.Number `json:"high,omitzero"`
	P         strictjson.Number `json:"p,omitzero"`
	Q         strictjson.Number `json:"q,omitzero"`
	Inclusion strictjson.Number `json:"inclusion,omitzero"`
	SameSign  strictjson.Number `json:"same_sign,omitzero"`
	Rows      int               `json:"pairs"`
}

// WriteJSON writes {"nodes": […], "edges": [{"from", "to", "weight", "partial_correlation",
// "precision", "sign"}]}, "labels" by name, and of edges the uncertainty as in WriteEdges and
// "levels" (WriteLevels). It fails if a number is not finite.
func (n *Network) WriteJSON(w io.Writer) error {
	file := struct {
		Nodes  []string          `json:"nodes"`
		Labels map[string]string `json:"labels,omitempty"`
		Edges  []jsonEdge        `json:"edges"`
	}{Nodes: append([]string{}, n.Nodes...), Labels: n.Labels, Edges: []jsonEdge{}}
	type number = strictjson.Number
	for _, e := range n.Edges {
		line := jsonEdge{e.From, e.To, e.Weight(), e.PartialCorrelation, e.Precision, e.Sign(), e.Together, nil}
		if u := e.Uncertainty; u != nil {
			line.jsonUncertainty = &jsonUncertainty{
				number(u.Estimate), number(u.SE), number(u.Low), number(u.High), number(u.P), number(u.Q),
				number(u.Inclusion), number(u.SameSign), u.Rows,
			}
		}
		file.Edges = append(file.Edges, line)
	}
	enc := json.NewEncoder(printable.Writer{W: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(file)
}
