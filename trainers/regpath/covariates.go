package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/trainers/gaussian/sparse"
)

// covariates are columns that are held constant: members of the normal distribution, but no nodes
// of the network, whose partial correlations are given them. Their pairs are without a penalty, in
// every network of the path, and counted nowhere (docs/theory/path.md#covariates). So are the pairs
// of columns within a block (data.Table.Blocks), which is one node.
type covariates struct {
	names  []string     // of the nodes, which are no covariates
	nodes  []int        // their first columns
	blocks []data.Block // of the nodes; nil: a column each
	free   []bool       // of packed P: pairs with a covariate or within a block; nil: there are none
	pairs  []int        // of each pair of nodes the place of their first columns among all pairs; nil where free is
	of     []int        // node of each column, -1 of a covariate; nil where free is
}

// newCovariates finds columns, or blocks, by their names.
func newCovariates(t *data.Table, of []string) (c covariates) {
	blocks, wide := t.Blocks, false
	if blocks == nil {
		for j, name := range t.Names {
			blocks = append(blocks, data.Block{Name: name, First: j, Width: 1})
		}
	}
	node := make([]int, t.D)
	for _, b := range blocks {
		covariate := slices.Contains(of, b.Name)
		for j := range b.Width {
			if node[b.First+j] = len(c.nodes); covariate {
				node[b.First+j] = -1
			}
		}
		if wide = wide || b.Width > 1; !covariate {
			c.names, c.nodes, c.blocks = append(c.names, b.Name), append(c.nodes, b.First), append(c.blocks, b)
		}
	}
	if !wide {
		c.blocks = nil
		if len(of) == 0 {
			return c
		}
	}
	c.of, c.free = node, make([]bool, t.D*(t.D+1)/2)
	for j, i := 0, 0; j < t.D; j++ {
		for k := j + 1; k < t.D; k, i = k+1, i+1 {
			switch a, b := node[j], node[k]; {
			case a < 0 || b < 0 || a == b:
				c.free[graph.PackedIndex(t.D, j, k)] = true
			case j == c.nodes[a] && k == c.nodes[b]:
				c.pairs = append(c.pairs, i)
			}
		}
	}
	return c
}

// pairAt is the place of a pair of nodes, of their first columns, among all pairs of columns.
func (c covariates) pairAt(i int) int {
	if c.free == nil {
		return i
	}
	return c.pairs[i]
}

// set sets the edges of free pairs, and gives edges back.
func (c covariates) set(edges []bool, d int, to bool) []bool {
	if c.free == nil {
		return edges
	}
	for j, i := 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			if c.free[graph.PackedIndex(d, j, k)] {
				edges[i] = to
			}
		}
	}
	return edges
}

// columns are the pairs of columns of edges of nodes, every pair of two blocks; free pairs are none.
func (c covariates) columns(edges []bool) []bool {
	if c.free == nil {
		return edges
	}
	a := network.Adjacency{D: len(c.nodes), Edge: edges}
	var out []bool
	for j, first := range c.of {
		for _, second := range c.of[j+1:] {
			out = append(out, first >= 0 && second >= 0 && a.Has(first, second))
		}
	}
	return out
}

// ofNodes takes values of all pairs of columns and gives those of the first columns of pairs of nodes.
func ofNodes[T any](c covariates, values []T) []T {
	if c.free == nil || values == nil {
		return values
	}
	out := make([]T, 0, len(c.pairs))
	for _, at := range c.pairs {
		out = append(out, values[at])
	}
	return out
}

// precision is the packed matrix of the nodes, of one that is of d columns: their part of it; of a
// pair with a block of several columns -strength √(Q_aa Q_bb) (sparse.Matrix.Strengths), with Q_aa = 1
// of such a block. Its partial correlations are those of the network.
func (c covariates) precision(packed []float64, d int) []float64 {
	if c.free == nil {
		return packed
	}
	q := len(c.nodes)
	out := make([]float64, q*(q+1)/2)
	for a, j := range c.nodes {
		for b := a; b < q; b++ {
			out[graph.PackedIndex(q, a, b)] = packed[graph.PackedIndex(d, j, c.nodes[b])]
		}
	}
	if c.blocks == nil {
		return out
	}
	strengths := sparse.FromPacked(packed, d).Strengths(c.blocks)
	for a, block := range c.blocks {
		if block.Width > 1 {
			out[graph.PackedIndex(q, a, a)] = 1
		}
	}
	for a, first := range c.blocks {
		for b := a + 1; b < q; b++ {
			if at := graph.PackedIndex(q, a, b); first.Width > 1 || c.blocks[b].Width > 1 {
				out[at] = 0 - strengths[at]*math.Sqrt(out[graph.PackedIndex(q, a, a)])*math.Sqrt(out[graph.PackedIndex(q, b, b)])
			}
		}
	}
	return out
}

// largest is the largest ‖G_AB‖/√(|A||B|) of pairs of nodes A, B, of a gradient G by its sizes: the
// group lasso's λ at which the network is empty (sparse.Lasso.Blocks).
func (c covariates) largest(size func(j, k int) float64) (top float64) {
	for a, first := range c.blocks {
		for _, second := range c.blocks[a+1:] {
			norm := 0.0
			for j := range first.Width {
				for k := range second.Width {
					norm = math.Hypot(norm, size(first.First+j, second.First+k))
				}
			}
			top = max(top, norm/math.Sqrt(float64(first.Width*second.Width)))
		}
	}
	return top
}

// weights are those of the penalty, packed: 0 for free pairs; nil where there are none.
func (c covariates) weights() (weights []float64) {
	for _, free := range c.free {
		w := 1.0
		if free {
			w = 0
		}
		weights = append(weights, w)
	}
	return weights
}

const nullTolerance = 1e-10 // of a derivative at the minimum without edges

// nullGradient gives, of ½ tr(PSP) − tr P, the derivative by a pair of columns at the minimum over
// all P in which no two nodes are joined, while free pairs are free; 0 for these. It is
// not ok where P runs away, or is not positive definite: the path has to begin with another.
func (c covariates) nullGradient(s *mat.SymDense) (derivative func(j, k int) float64, ok bool) {
	d, ctx := s.SymmetricDim(), context.Background() // an estimate of few pairs ends at once
	p := sparse.Identity(d)
	for j := range d {
		p.Diagonal[j] = 1 / s.At(j, j)
		for k := j + 1; k < d; k++ {
			if c.free[graph.PackedIndex(d, j, k)] {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, 0)
			}
		}
	}
	lasso := sparse.Lasso{D: d, S: mat.DenseCopyOf(s).RawMatrix().Data, Tolerance: nullTolerance}
	o, err := lasso.Fit(ctx, p)
	if err != nil || !o.Done || !p.Finite() {
		return nil, false
	}
	if least, err := p.Smallest(ctx); err != nil || !(least > 0) {
		return nil, false
	}
	whole := mat.NewSymDense(d, nil)
	whole.CopySym(p.Symmetric())
	var v mat.Dense
	v.Mul(whole, s)
	return func(j, k int) float64 {
		if c.free[graph.PackedIndex(d, min(j, k), max(j, k))] {
			return 0
		}
		return v.At(j, k) + v.At(k, j)
	}, true
}
