package picture

import (
	"cmp"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/spatial/r2"
)

// Edge joins two nodes, by their numbers. Weight > 0 is its strength.
type Edge struct {
	From, To int
	Weight   float64
}

// Places lays out a network (docs/theory/centrality.md#eq-layout): each connected part by least
// stress, turned to its longest axis, in rows, the largest first. Nearest nodes are about a unit
// apart. The result does not depend on the order of nodes and edges.
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
	g := lengths(len(names), edges, rank)
	parts := topo.ConnectedComponents(g)
	largestFirst(parts)
	var blocks []block
	for _, part := range parts {
		b := block{nodes: part, at: laidOut(g, part)}
		b.turn()
		b.spread()
		blocks = append(blocks, b)
	}
	return pack(blocks, order)
}

// placesFrom keeps given places. Other nodes go near their neighbours, or into a row below.
func placesFrom(given map[string]r2.Vec, names []string, edges []Edge) []r2.Vec {
	if len(given) == 0 {
		return Places(names, edges)
	}
	var fixed []r2.Vec
	at, free := make([]r2.Vec, len(names)), make([]float64, len(names))
	for i, name := range names {
		var known bool
		if at[i], known = given[name]; known {
			fixed = append(fixed, at[i])
		} else {
			free[i] = 1
		}
	}
	low, _ := bounds(fixed)
	step, below := unit(fixed), 0.0
	for i := range names {
		if free[i] == 0 {
			continue
		}
		var sum r2.Vec
		weight := 0.0
		for _, e := range edges {
			other := e.From + e.To - i
			if (e.From == i) != (e.To == i) && free[other] == 0 {
				sum, weight = r2.Add(sum, r2.Scale(e.Weight, at[other])), weight+e.Weight
			}
		}
		at[i] = r2.Add(r2.Scale(1/weight, sum), r2.Vec{X: 0.2 * step, Y: -0.3 * step}) // beside the line between two neighbours
		if weight == 0 {
			at[i], below = r2.Vec{X: low.X + below*step, Y: low.Y - step}, below+1
		}
	}
	push(at, free, step)
	return at
}

// unit is the least distance of given places over nearest, within 0.4 to 1.4 times the mean spacing.
func unit(at []r2.Vec) float64 {
	if len(at) < 2 {
		return 1
	}
	side, least := spacing(at), math.Inf(1)
	for i, a := range at {
		for _, b := range at[:i] {
			least = min(least, r2.Norm(r2.Sub(a, b)))
		}
	}
	if side == 0 { // all at one place
		return 1
	}
	return max(min(least/nearest, 1.4*side), 0.4*side)
}

// spacing is the mean distance between neighbours of at least two places.
func spacing(at []r2.Vec) float64 {
	low, high := bounds(at)
	across, down, k := high.X-low.X, high.Y-low.Y, float64(len(at))
	return max(math.Sqrt(across*down/k), across/(k-1), down/(k-1))
}

type block struct {
	nodes []graph.Node
	at    []r2.Vec
}

// turn rotates the longest axis to horizontal.
func (b block) turn() {
	var mean r2.Vec
	for _, p := range b.at {
		mean = r2.Add(mean, r2.Scale(1/float64(len(b.at)), p))
	}
	var sum complex128 // of squares, whose direction is twice the axis's
	for _, p := range b.at {
		z := complex(p.X-mean.X, p.Y-mean.Y)
		sum += z * z
	}
	for i, p := range b.at {
		b.at[i] = r2.Rotate(p, -cmplx.Phase(sum)/2, mean)
	}
}

func bounds(places []r2.Vec) (low, high r2.Vec) {
	low, high = r2.Vec{X: math.Inf(1), Y: math.Inf(1)}, r2.Vec{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, p := range places {
		low = r2.Vec{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = r2.Vec{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	return low, high
}

// pack places blocks in rows; node k of the blocks is order[k].
func pack(blocks []block, order []int) []r2.Vec {
	const room = 1.0
	out := make([]r2.Vec, len(order))
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
			out[order[node.ID()]] = r2.Vec{X: left + room/2 + b.at[i].X - low.X, Y: top - room/2 + b.at[i].Y - high.Y}
		}
		left, row = left+across, max(row, down)
	}
	return out
}

const lengthPower = 0.5

// lengths has edge lengths (strongest/weight)^lengthPower, rounded so that rounding in an estimate
// does not change the picture.
func lengths(n int, edges []Edge, rank []int) *simple.WeightedUndirectedGraph {
	g := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	for i := range n {
		g.AddNode(simple.Node(i))
	}
	edges = slices.DeleteFunc(slices.Clone(edges), func(e Edge) bool { return e.From == e.To || !(e.Weight > 0) || math.IsInf(e.Weight, 1) })
	strongest := 0.0
	for _, e := range edges {
		strongest = max(strongest, e.Weight)
	}
	for _, e := range edges {
		length := math.Round(1e6*math.Pow(strongest/e.Weight, lengthPower)) / 1e6
		g.SetWeightedEdge(g.NewWeightedEdge(simple.Node(rank[e.From]), simple.Node(rank[e.To]), length))
	}
	return g
}

const (
	sweeps    = 60   // over all pairs
	smallStep = 0.02 // the last sweep's, as a share of the way to the wanted distance of the nearest pairs
)

// laidOut gives the nodes of a connected part places of little stress
//
//	Σ_{i<j} (‖x_i − x_j‖ − d_ij)² / d_ij²,
//
// with d_ij the length of the shortest path (Kamada & Kawai 1989), by stochastic gradient descent:
// pairs in random order move towards their distances, with decreasing steps (Zheng, Pawar & Goodman
// 2018, https://arxiv.org/abs/1710.04626). gonum's IsomapR2 crosses edges twice as often, and
// EadesR2 knows no lengths.
func laidOut(g *simple.WeightedUndirectedGraph, part []graph.Node) []r2.Vec {
	k := len(part)
	if k == 1 {
		return make([]r2.Vec, 1)
	}
	type pair struct {
		i, j int
		want float64
	}
	var pairs []pair
	longest, shortest := 0.0, math.Inf(1)
	for i, source := range part {
		from := path.DijkstraFrom(source, g)
		for j := range i {
			want := from.WeightTo(part[j].ID())
			pairs = append(pairs, pair{i, j, want})
			longest, shortest = max(longest, want), min(shortest, want)
		}
	}
	rng := rand.New(rand.NewPCG(uint64(k), 1))
	at := make([]r2.Vec, k)
	for i := range at {
		at[i] = r2.Vec{X: longest * (rng.Float64() - 0.5), Y: longest * (rng.Float64() - 0.5)}
	}
	first, last := longest*longest, smallStep*shortest*shortest
	for sweep := range sweeps {
		rate := first * math.Pow(last/first, float64(sweep)/(sweeps-1))
		rng.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
		for _, p := range pairs {
			apart := r2.Sub(at[p.i], at[p.j])
			far := r2.Norm(apart)
			step := r2.Scale(min(1, rate/(p.want*p.want))*(far-p.want)/2/far, apart)
			at[p.i], at[p.j] = r2.Sub(at[p.i], step), r2.Add(at[p.j], step)
		}
	}
	return at
}

const (
	nearest    = 0.75 // how near two nodes of a part may come, in units
	spreadings = 200  // sweeps that push nodes apart, at most
)

// spread scales places to unit spacing and pushes near nodes apart.
func (b block) spread() {
	k := len(b.at)
	if k == 1 {
		return
	}
	scale := 1 / spacing(b.at)
	for i, p := range b.at {
		b.at[i] = r2.Scale(scale, p)
	}
	push(b.at, slices.Repeat([]float64{1}, k), 1)
}

// push moves nodes that are nearer than nearest units apart; free is 1, or 0 for nodes that stay.
func push(at []r2.Vec, free []float64, unit float64) {
	for moved, sweep := true, 0; moved && sweep < spreadings; sweep++ {
		moved = false
		for i := range at {
			for j := range i {
				gap, movable := r2.Sub(at[i], at[j]), free[i]+free[j]
				far := r2.Norm(gap)
				if far >= (nearest-1e-6)*unit || movable == 0 {
					continue
				}
				if far == 0 {
					gap, far = r2.Vec{X: 1e-3 * unit, Y: 1e-3 * unit}, math.Sqrt2*1e-3*unit
				}
				step := r2.Scale((nearest*unit-far)/far/movable, gap)
				at[i], at[j] = r2.Add(at[i], r2.Scale(free[i], step)), r2.Sub(at[j], r2.Scale(free[j], step))
				moved = true
			}
		}
	}
}
