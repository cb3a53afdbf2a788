package picture

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

func smallNetwork() *network.Network {
	return &network.Network{
		Nodes: []string{"Ozone", "a<b>&\"c\"", "Größe", "Temp"},
		Edges: []network.Edge{
			{From: "Ozone", To: "Temp", PartialCorrelation: 0.5},
			{From: "Temp", To: "Größe", PartialCorrelation: -0.25},
			{From: "Ozone", To: "Größe", PartialCorrelation: 0.125},
		},
	}
}

// width reads the stroke width of a style; SVG's default is 1.
func width(t *testing.T, style string) float64 {
	found := regexp.MustCompile(`stroke-width:([0-9.]+)`).FindStringSubmatch(style)
	if found == nil {
		return 1
	}
	w, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return w
}

func TestNetwork(t *testing.T) {
	p, err := Network(smallNetwork())
	require.NoError(t, err)
	all := leaves(t, p)
	require.ElementsMatch(t, []string{"Partial correlation network", "Ozone", "a<b>&\"c\"", "Größe", "Temp",
		"positive", "negative", "widest line: |partial correlation| = 0.5"}, texts(all))

	// The weakest edge is drawn first; the last stroke of each colour is the legend's.
	blue, red := strokes(all, svgBlue), strokes(all, svgRed)
	require.Len(t, blue, 3)
	require.Len(t, red, 2)
	var widths []float64
	for _, e := range all {
		if strings.Contains(e.style, "stroke:") && len(widths) < 3 {
			widths = append(widths, width(t, e.style))
		}
	}
	require.Equal(t, []float64{1.25, 2.5, 5}, widths)
	for _, s := range red {
		require.Contains(t, s, "stroke-dasharray:")
	}
	for _, s := range blue {
		require.NotContains(t, s, "stroke-dasharray:")
	}
	require.NotContains(t, blue[1], "stroke-opacity")
	require.Contains(t, red[0], "stroke-opacity")
}

func TestNetworkWithoutEdges(t *testing.T) {
	for _, n := range []int{1, 2, 30} {
		g := &network.Network{}
		for i := range n {
			g.Nodes = append(g.Nodes, fmt.Sprint("x", i))
		}
		p, err := Network(g)
		require.NoError(t, err)
		all := leaves(t, p)
		require.Contains(t, texts(all), "no edges")
		require.Len(t, texts(all), n+2)
		require.Empty(t, strokes(all, svgBlue))
		require.Empty(t, strokes(all, svgRed))
	}
}

func TestNetworkOfOneEdge(t *testing.T) {
	for _, r := range []float64{-0.9, 0} {
		p, err := Network(&network.Network{Nodes: []string{"a", "b"}, Edges: []network.Edge{{From: "a", To: "b", PartialCorrelation: r}}})
		require.NoError(t, err)
		all := leaves(t, p)
		require.Len(t, append(strokes(all, svgRed), strokes(all, svgBlue)...), 3)
		for _, e := range all {
			require.NotContains(t, e.style, "NaN")
		}
		require.Contains(t, strings.Join(texts(all), "\n"), fmt.Sprintf("| = %v", math.Abs(r)))
	}
}

func TestNetworkErrors(t *testing.T) {
	_, err := Network(&network.Network{})
	require.EqualError(t, err, "picture: the network has no nodes")
	n := smallNetwork()
	n.Edges[1].PartialCorrelation = math.NaN()
	_, err = Network(n)
	require.EqualError(t, err, `picture: the partial correlation of "Temp" – "Größe" is NaN`)
	n.Edges[1].From = "Wind"
	_, err = Network(n)
	require.ErrorContains(t, err, `no node is named "Wind"`)
}
