package network

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteEdges(t *testing.T) {
	n := awkwardNetwork(t)
	var b bytes.Buffer
	require.NoError(t, n.WriteEdges(&b))
	requireGolden(t, "edges.csv", b.Bytes())

	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	for i, e := range n.Edges {
		w, err := strconv.ParseFloat(rows[i+1][2], 64)
		require.NoError(t, err)
		r, err := strconv.ParseFloat(rows[i+1][3], 64)
		require.NoError(t, err)
		require.Equal(t, e, Edge{rows[i+1][0], rows[i+1][1], w, r})
	}
}

func TestWriteEdgesOfNone(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, (&Network{Nodes: []string{"a"}}).WriteEdges(&b))
	require.Equal(t, "from,to,weight,partial_correlation,precision\n", b.String())
}
