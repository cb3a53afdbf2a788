package network

import (
	"encoding/json"
	"io"
	"math"

	"missingscore/internal/printable"
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
	Estimate  *float64 `json:"estimate,omitempty"`
	SE        *float64 `json:"se,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	P         *float64 `json:"p,omitempty"`
	Q         *float64 `json:"q,omitempty"`
	Inclusion *float64 `json:"inclusion,omitempty"`
	SameSign  *float64 `json:"same_sign,omitempty"`
	Rows      int      `json:"pairs"`
}

func newJSONUncertainty(u *Uncertainty) *jsonUncertainty {
	if u == nil {
		return nil
	}
	known := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return &jsonUncertainty{known(u.Estimate), known(u.SE), known(u.Low), known(u.High), known(u.P), known(u.Q), known(u.Inclusion), known(u.SameSign), u.Rows}
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
	for _, e := range n.Edges {
		file.Edges = append(file.Edges, jsonEdge{e.From, e.To, e.Weight(), e.PartialCorrelation, e.Precision, e.Sign(), e.Together, newJSONUncertainty(e.Uncertainty)})
	}
	enc := json.NewEncoder(printable.Writer{W: w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(file)
}
