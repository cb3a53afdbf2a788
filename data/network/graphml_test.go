package network

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteGraphML(t *testing.T) {
	n := awkwardNetwork(t)
	var b bytes.Buffer
	require.NoError(t, n.WriteGraphML(&b))
	requireGolden(t, "network.graphml", b.Bytes()) // read by networkx 3.6.1 as 6 nodes, 4 edges

	// A reader's view, apart from the types that write.
	type data struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
	var file struct {
		XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
		Keys    []struct {
			ID   string `xml:"id,attr"`
			For  string `xml:"for,attr"`
			Name string `xml:"attr.name,attr"`
			Type string `xml:"attr.type,attr"`
		} `xml:"key"`
		Graph struct {
			Default string `xml:"edgedefault,attr"`
			Nodes   []struct {
				ID   string `xml:"id,attr"`
				Data []data `xml:"data"`
			} `xml:"node"`
			Edges []struct {
				Source string `xml:"source,attr"`
				Target string `xml:"target,attr"`
				Data   []data `xml:"data"`
			} `xml:"edge"`
		} `xml:"graph"`
	}
	require.NoError(t, xml.Unmarshal(b.Bytes(), &file))
	require.Equal(t, "undirected", file.Graph.Default)
	declared := map[string]string{}
	for _, k := range file.Keys {
		require.Equal(t, k.ID, k.Name)
		declared[k.ID] = k.For + " " + k.Type
	}
	require.Equal(t, map[string]string{"label": "node string", "weight": "edge double",
		"partial_correlation": "edge double", "precision": "edge double", "sign": "edge string"}, declared)

	name := map[string]string{}
	for j, v := range file.Graph.Nodes {
		require.Equal(t, []data{{"label", awkward[j]}}, v.Data)
		name[v.ID] = awkward[j]
	}
	require.Len(t, name, len(awkward))
	require.Len(t, file.Graph.Edges, len(n.Edges))
	for i, e := range n.Edges {
		got := file.Graph.Edges[i]
		require.Equal(t, e.From, name[got.Source])
		require.Equal(t, e.To, name[got.Target])
		require.Equal(t, []data{{"weight", number(e.Weight())}, {"partial_correlation", number(e.PartialCorrelation)}, {"precision", number(e.Precision)},
			{"sign", e.Sign()}}, got.Data)
	}
	require.Equal(t, "-", file.Graph.Edges[0].Data[3].Text)
	require.Equal(t, "+", file.Graph.Edges[1].Data[3].Text)
}

func TestWriteGraphMLErrors(t *testing.T) {
	var b bytes.Buffer
	err := (&Network{Nodes: []string{"a", "a"}}).WriteGraphML(&b)
	require.ErrorContains(t, err, `both named "a"`)
	require.Zero(t, b.Len())
}
