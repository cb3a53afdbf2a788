package picture

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"missingscore/data/network"
)

// cliques is a network of groups of nodes, all joined within and one weak edge between
// neighbours, and of as many nodes without an edge.
func cliques(groups, nodes int) *network.Network {
	n := &network.Network{}
	for i := range 2 * groups * nodes {
		n.Nodes = append(n.Nodes, fmt.Sprint("v", i))
	}
	join := func(j, k int, r float64) {
		n.Edges = append(n.Edges, network.Edge{From: n.Nodes[j], To: n.Nodes[k], PartialCorrelation: r})
	}
	for g := range groups {
		first := g * nodes
		for j := range nodes {
			for k := range j {
				join(first+k, first+j, 0.5)
			}
		}
		if g > 0 {
			join(first-1, first, -0.01)
		}
	}
	return n
}

// Louvain's modules are the cliques, and each has a colour of its own.
func TestModulesOfCliques(t *testing.T) {
	s := scene(t, cliques(3, 6))
	require.True(t, s.Found)
	require.Len(t, s.Groups, 3)
	for g := range 3 {
		for i := range 6 {
			require.Equal(t, g, s.Group[6*g+i])
		}
	}
	require.Equal(t, -1, s.Group[20])
	require.NotEqual(t, s.Groups[0].Colour, s.Groups[1].Colour)
	require.Empty(t, scene(t, cliques(1, 6)).Groups, "one module says nothing")
	require.Empty(t, scene(t, smallNetwork()).Groups)
}

func TestLargeNetworks(t *testing.T) {
	svg := func(n *network.Network) string {
		svg, err := SVG(drawn(t, n), 10*vg.Centimeter, 10*vg.Centimeter)
		require.NoError(t, err)
		return svg
	}
	first := svg(cliques(10, 6))
	require.Equal(t, first, svg(cliques(10, 6)), "equal input gives equal bytes")
	require.Contains(t, first, "all 159 edges, and the 60 of 120 nodes that they join; colours are modules")

	many := svg(cliques(2, 60)) // 2 · 1770 + 1 edges
	require.Contains(t, many, "the 1500 strongest of 3541 edges")
	require.NotContains(t, many, ">v239<", "without an edge it is not drawn")
}
