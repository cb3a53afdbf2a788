package network

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteJSON(t *testing.T) {
	n := awkwardNetwork(t)
	var b bytes.Buffer
	require.NoError(t, n.WriteJSON(&b))
	requireGolden(t, "network.json", b.Bytes())

	var file struct {
		Nodes []string
		Edges []map[string]any
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &file))
	require.Equal(t, awkward, file.Nodes)
	require.Len(t, file.Edges, len(n.Edges))
	require.Equal(t, map[string]any{"from": "a<b>&c", "to": "<b>", "weight": 0.6, "partial_correlation": -0.6, "precision": 0.6, "sign": "-"}, file.Edges[0])
}

func TestWriteJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, (&Network{}).WriteJSON(&b))
	require.JSONEq(t, `{"nodes":[],"edges":[]}`, b.String())
}

func TestWriteJSONRefusesNaN(t *testing.T) {
	var b bytes.Buffer
	n := &Network{Nodes: []string{"a", "b"}, Edges: []Edge{{From: "a", To: "b", Precision: math.NaN()}}}
	require.Error(t, n.WriteJSON(&b))
}
