package picture

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"
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
	w, err := newWheel(cliques(3, 6))
	require.NoError(t, err)
	of := moduleColours(newLinks(w.spokes))
	require.Len(t, of, 18)
	seen := map[color.Color]bool{}
	for g := range 3 {
		want := of[int64(6*g)]
		require.False(t, seen[want])
		require.NotEqual(t, grey, want)
		seen[want] = true
		for i := range 6 {
			require.Equal(t, want, of[int64(6*g+i)])
		}
	}
}

// Nodes that are joined lie nearer to each other than those that are not, and parts beside
// each other.
func TestForces(t *testing.T) {
	w, err := newWheel(cliques(2, 6))
	require.NoError(t, err)
	at := arrangeParts(newLinks(w.spokes))
	within, between := 0.0, 0.0
	for i := range int64(6) {
		for j := range int64(6) {
			within += r2.Norm(r2.Sub(at[i], at[j])) / 30
			between += r2.Norm(r2.Sub(at[i], at[6+j])) / 36
		}
	}
	require.Less(t, within, between)

	apart := []spoke{{[2]int{0, 1}, 1}, {[2]int{1, 2}, 1}, {[2]int{3, 4}, 1}, {[2]int{5, 6}, 1}}
	at = arrangeParts(newLinks(apart))
	var boxes [][2]r2.Vec
	for _, ids := range [][]int64{{0, 1, 2}, {3, 4}, {5, 6}} {
		part := map[int64]r2.Vec{}
		for _, id := range ids {
			part[id] = at[id]
		}
		low, high := bounds(part)
		for _, box := range boxes {
			require.True(t, low.X > box[1].X || high.X < box[0].X || low.Y > box[1].Y || high.Y < box[0].Y)
		}
		boxes = append(boxes, [2]r2.Vec{low, high})
	}
}

func TestModulesPicture(t *testing.T) {
	draw := func(n *network.Network) string {
		p, err := Modules(n)
		require.NoError(t, err)
		svg, err := SVG(p, 10*vg.Centimeter, 10*vg.Centimeter)
		require.NoError(t, err)
		return string(svg)
	}
	first := draw(cliques(3, 6))
	require.Equal(t, first, draw(cliques(3, 6)), "equal input gives equal bytes")
	require.Contains(t, first, "all 47 edges, and the 18 of 36 nodes that they join; colours are modules")

	many := draw(cliques(2, 60)) // 2 · 1770 + 1 edges
	require.Contains(t, many, "the 1500 strongest of 3541 edges")
	require.NotContains(t, many, ">v239<", "without an edge it is not drawn")

	require.Contains(t, draw(&network.Network{Nodes: []string{"a", "b"}}), "no edges among 2 nodes")
	_, err := Modules(&network.Network{Nodes: []string{"a", "b"}, Edges: []network.Edge{{From: "a", To: "b", PartialCorrelation: math.NaN()}}})
	require.Error(t, err)
}
