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
		var numbers []float64
		for _, text := range rows[i+1][2:] {
			v, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			numbers = append(numbers, v)
		}
		require.Equal(t, []float64{e.Weight(), e.PartialCorrelation, e.Precision}, numbers)
		require.Equal(t, []string{e.From, e.To}, rows[i+1][:2])
	}
}

func TestWriteEdgesOfNone(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, (&Network{Nodes: []string{"a"}}).WriteEdges(&b))
	require.Equal(t, "from,to,weight,partial_correlation,precision\n", b.String())
}
