package layout

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"
)

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%03d", i))
	}
	return names
}

func TestSmallNetworks(t *testing.T) {
	require.Empty(t, Places(nil, nil))
	require.Len(t, Places([]string{"a"}, nil), 1)
	two := Places([]string{"b", "a"}, []Edge{{0, 1, 0.5}})
	require.InDelta(t, 1, r2.Norm(r2.Sub(two[0], two[1])), 1e-9, "a unit apart")
	require.InDelta(t, two[0].Y, two[1].Y, 1e-9, "side by side")

	// Loops and weights that are none are no edges.
	odd := Places([]string{"a", "b", "c"}, []Edge{{0, 0, 1}, {0, 1, 0}, {1, 2, math.NaN()}, {0, 2, -1}, {0, 1, math.Inf(1)}})
	require.Equal(t, Places([]string{"a", "b", "c"}, nil), odd)
}

// A path of equal edges lies on a line, its nodes in order a unit apart; a stronger edge is shorter.
func TestPathIsALine(t *testing.T) {
	var edges []Edge
	for i := range 5 {
		edges = append(edges, Edge{i, i + 1, 0.25})
	}
	at := Places(numbered(6), edges)
	for i := range 5 {
		require.InDelta(t, 1, math.Abs(at[i+1].X-at[i].X), 0.05)
		require.Less(t, math.Abs(at[i].Y-at[i+1].Y), 0.25)
	}
	edges[2].Weight = 1 // length 1 where the others have 2
	at = Places(numbered(6), edges)
	far := func(i int) float64 { return r2.Norm(r2.Sub(at[i], at[i+1])) }
	require.InDelta(t, 0.5, far(2)/far(0), 0.3)
	require.Less(t, far(2), 0.9*far(0))
}

// The place of least stress of a square of equal edges is a square.
func TestRingIsRound(t *testing.T) {
	at := Places(numbered(4), []Edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}})
	side, diagonal := r2.Norm(r2.Sub(at[0], at[1])), r2.Norm(r2.Sub(at[0], at[2]))
	require.InDelta(t, math.Sqrt2, diagonal/side, 0.02)
	require.InDelta(t, diagonal, r2.Norm(r2.Sub(at[1], at[3])), 0.05)
}

// Parts lie beside each other, the largest first.
func TestPartsLieApart(t *testing.T) {
	edges := []Edge{{0, 1, 1}, {1, 2, 1}, {3, 4, 1}, {5, 6, 1}}
	at := Places(numbered(8), edges)
	var boxes [][2]r2.Vec
	for _, part := range [][]int{{0, 1, 2}, {3, 4}, {5, 6}, {7}} {
		var own []r2.Vec
		for _, i := range part {
			own = append(own, at[i])
		}
		low, high := bounds(own)
		for _, box := range boxes {
			require.True(t, low.X > box[1].X || high.X < box[0].X || low.Y > box[1].Y || high.Y < box[0].Y)
		}
		boxes = append(boxes, [2]r2.Vec{low, high})
	}
}

// Distances are those of shortest paths, with lengths (strongest/weight)^½.
func TestDistances(t *testing.T) {
	g := newGraph(4, []Edge{{0, 1, 1}, {1, 2, 0.25}, {0, 2, 0.04}, {2, 3, 1}}, []int{0, 1, 2, 3})
	require.Equal(t, [][]int{{0, 1, 2, 3}}, g.parts())
	d := g.distances([]int{0, 1, 2, 3})
	require.InDeltaSlice(t, []float64{0, 1, 3, 4, 1, 0, 2, 3, 3, 2, 0, 1, 4, 3, 1, 0}, d, 1e-12)
	// Distances 2, 3 and 1 are 3, 4 and 1 in the picture.
	require.InDelta(t, 1.0/4+1.0/9, stress([]float64{0, 2, 3, 2, 0, 1, 3, 1, 0}, []r2.Vec{{X: 0}, {X: 3}, {X: 4}}), 1e-12)
}

func TestCross(t *testing.T) {
	p := func(x, y float64) r2.Vec { return r2.Vec{X: x, Y: y} }
	require.True(t, cross(p(0, 0), p(2, 2), p(0, 2), p(2, 0)))
	require.False(t, cross(p(0, 0), p(1, 1), p(0, 3), p(3, 2)))
	require.False(t, cross(p(0, 0), p(2, 2), p(0, 5), p(5, 0)), "the other's line is crossed beyond its end")
}
