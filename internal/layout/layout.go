// Package layout gives the nodes of a network places in the plane, so that nodes lie the nearer
// to each other the stronger they are joined. Every picture of a network takes its places from
// here, on paper and on the page, so that they are the same.
package layout

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"
)

// Edge joins two nodes, by their numbers. Weight > 0 is its strength.
type Edge struct {
	From, To int
	Weight   float64
}

// Places gives each named node a place (docs/theory/centrality.md#eq-layout). Connected parts are laid out one by one, by least
// stress (stress.go), turned so that they are widest from left to right, and put in rows, the
// largest first, the y axis pointing up. Nearest nodes are about a unit apart.
//
// Nodes are taken in the order of their names, and the only random draws come from a fixed
// seed: equal networks have equal places, in whatever order their nodes and edges are told.
// Edges that are loops or whose weight is not a positive number are left out; names must not
// be equal.
func Places(names []string, edges []Edge) []r2.Vec {
	order := make([]int, len(names)) // nodes by name
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	rank := make([]int, len(names))
	for place, i := range order {
		rank[i] = place
	}
	g := newGraph(len(names), edges, rank)
	sorted := make([]r2.Vec, len(names))
	var blocks []block
	for _, part := range g.parts() {
		b := block{nodes: part, at: g.laidOut(part)}
		b.turn()
		b.spread()
		blocks = append(blocks, b)
	}
	pack(blocks, sorted)
	out := make([]r2.Vec, len(names))
	for i := range out {
		out[i] = sorted[rank[i]]
	}
	return out
}

// block is a connected part with the places of its nodes.
type block struct {
	nodes []int
	at    []r2.Vec
}

// turn puts the middle of the places at 0 and their longest axis from left to right, with the
// heavier tail on the right and upper side, so that the same network is never mirrored.
func (b block) turn() {
	var mean r2.Vec
	for _, p := range b.at {
		mean = r2.Add(mean, r2.Scale(1/float64(len(b.at)), p))
	}
	var xx, xy, yy float64
	for i, p := range b.at {
		p = r2.Sub(p, mean)
		b.at[i] = p
		xx, xy, yy = xx+p.X*p.X, xy+p.X*p.Y, yy+p.Y*p.Y
	}
	sin, cos := math.Sincos(-math.Atan2(2*xy, xx-yy) / 2)
	var skewX, skewY float64
	for i, p := range b.at {
		p = r2.Vec{X: cos*p.X - sin*p.Y, Y: sin*p.X + cos*p.Y}
		b.at[i] = p
		skewX, skewY = skewX+p.X*p.X*p.X, skewY+p.Y*p.Y*p.Y
	}
	for i, p := range b.at {
		b.at[i] = r2.Vec{X: math.Copysign(1, skewX) * p.X, Y: math.Copysign(1, skewY) * p.Y}
	}
}

// bounds are the corners of the rectangle around places.
func bounds(places []r2.Vec) (low, high r2.Vec) {
	low, high = r2.Vec{X: math.Inf(1), Y: math.Inf(1)}, r2.Vec{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, p := range places {
		low = r2.Vec{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = r2.Vec{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	return low, high
}

// pack writes the places of all blocks, side by side in rows that together are about as wide
// as high, each with room of one unit around it.
func pack(blocks []block, out []r2.Vec) {
	const room = 1.0
	area, widest := 0.0, 0.0
	for _, b := range blocks {
		low, high := bounds(b.at)
		area += (high.X - low.X + room) * (high.Y - low.Y + room)
		widest = max(widest, high.X-low.X+room)
	}
	width := max(widest, 1.15*math.Sqrt(area))
	var left, top, row float64
	for _, b := range blocks {
		low, high := bounds(b.at)
		across, down := high.X-low.X+room, high.Y-low.Y+room
		if left > 0 && left+across > width {
			left, top, row = 0, top-row, 0
		}
		for i, node := range b.nodes {
			out[node] = r2.Vec{X: left + room/2 + b.at[i].X - low.X, Y: top - room/2 + b.at[i].Y - high.Y}
		}
		left, row = left+across, max(row, down)
	}
}
