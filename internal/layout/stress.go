package layout

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/spatial/r2"
)

// laidOut gives the nodes of a connected part places of little stress
//
//	Σ_{i<j} (‖x_i − x_j‖ − d_ij)² / d_ij²,
//
// where d_ij is the length of the shortest path (Kamada & Kawai 1989), by stochastic gradient
// descent over pairs (Zheng, Pawar & Goodman 2018, https://arxiv.org/abs/1710.04626). Of the
// places that several starts lead to, and whose stress is near the least, it takes those with the
// fewest crossings of edges.
func (g graph) laidOut(part []int) []r2.Vec {
	k := len(part)
	if k == 1 {
		return make([]r2.Vec, 1)
	}
	d := g.distances(part)
	type candidate struct {
		at     []r2.Vec
		stress float64
	}
	var found []candidate
	least := math.Inf(1)
	for start := range starts(k) {
		at := descend(d, k, rand.New(rand.NewPCG(uint64(k), uint64(start))))
		found = append(found, candidate{at, stress(d, at)})
		least = min(least, found[start].stress)
	}
	var best []r2.Vec
	fewest := math.Inf(1)
	for _, c := range found {
		if c.stress > tolerated*least {
			continue
		}
		if n := g.crossings(part, c.at); n < fewest {
			best, fewest = c.at, n
		}
	}
	return best
}

// tolerated is how much more stress than the least a layout of fewer crossings may have.
const tolerated = 1.1

// starts is from how many places a layout of k nodes begins: many are dear where k is large,
// and matter less.
func starts(k int) int { return max(1, min(40, 200000/(k*k))) }

// crossings are those of the edges of a part, each counted by 1/(product of the two lengths):
// where weak edges cross is seen less.
func (g graph) crossings(part []int, at []r2.Vec) float64 {
	place := map[int]int{}
	for i, node := range part {
		place[node] = i
	}
	type line struct {
		a, b   int
		weight float64
	}
	var lines []line
	for i, node := range part {
		for _, e := range g.next[node] {
			if j := place[e.node]; j > i {
				lines = append(lines, line{i, j, 1 / e.length})
			}
		}
	}
	sum := 0.0
	for i, x := range lines {
		for _, y := range lines[:i] {
			if x.a != y.a && x.a != y.b && x.b != y.a && x.b != y.b && cross(at[x.a], at[x.b], at[y.a], at[y.b]) {
				sum += x.weight * y.weight
			}
		}
	}
	return sum
}

// cross tells whether the lines from a to b and from c to d cross.
func cross(a, b, c, d r2.Vec) bool {
	side := func(p, q, r r2.Vec) float64 { return r2.Cross(r2.Sub(q, p), r2.Sub(r, p)) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

const (
	sweeps    = 60   // over all pairs
	smallStep = 0.02 // the last sweep's, as a share of the way to the wanted distance of the nearest pairs
)

// descend moves pairs, one after the other in random order, towards their distance d: at first
// all of the way, then the less the longer d is. d is (k, k).
func descend(d []float64, k int, rng *rand.Rand) []r2.Vec {
	longest, shortest := 0.0, math.Inf(1)
	for i := range k {
		for j := range i {
			longest, shortest = max(longest, d[i*k+j]), min(shortest, d[i*k+j])
		}
	}
	at := make([]r2.Vec, k)
	for i := range at {
		at[i] = r2.Vec{X: longest * (rng.Float64() - 0.5), Y: longest * (rng.Float64() - 0.5)}
	}
	pairs := make([][2]int32, 0, k*(k-1)/2)
	for i := range k {
		for j := range i {
			pairs = append(pairs, [2]int32{int32(i), int32(j)})
		}
	}
	first, last := longest*longest, smallStep*shortest*shortest
	for sweep := range sweeps {
		rate := first * math.Pow(last/first, float64(sweep)/(sweeps-1))
		rng.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
		for _, p := range pairs {
			i, j := p[0], p[1]
			want := d[int(i)*k+int(j)]
			apart := r2.Sub(at[i], at[j])
			far := r2.Norm(apart)
			if far == 0 {
				apart, far = r2.Vec{X: shortest}, shortest
			}
			step := r2.Scale(min(1, rate/(want*want))*(far-want)/2/far, apart)
			at[i], at[j] = r2.Sub(at[i], step), r2.Add(at[j], step)
		}
	}
	return at
}

// stress of places, for distances d of (k, k).
func stress(d []float64, at []r2.Vec) float64 {
	sum, k := 0.0, len(at)
	for i := range at {
		for j := range i {
			miss := r2.Norm(r2.Sub(at[i], at[j]))/d[i*k+j] - 1
			sum += miss * miss
		}
	}
	return sum
}
