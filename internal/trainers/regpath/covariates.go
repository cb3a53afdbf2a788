package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/gaussian/sparse"
)

// covariates are columns that are no nodes; partial correlations condition on them. Their pairs are
// free, that is, neither penalised nor edges (docs/theory/path.md#covariates), as are pairs within
// a block, which is one node.
type covariates struct {
	names  []string     // of nodes
	nodes  []int        // first column of each node
	blocks []data.Block // of nodes; nil: one column each
	free   []bool       // packed pairs with a covariate or within a block; nil for none
	pairs  []int        // by pair of nodes, the index of their first columns among all pairs; nil if free is
	of     []int        // node of each column, -1 for a covariate; nil if free is
}

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
	eachPair(t.D, func(i, j, k int) {
		switch a, b := node[j], node[k]; {
		case a < 0 || b < 0 || a == b:
			c.free[graph.PackedIndex(t.D, j, k)] = true
		case j == c.nodes[a] && k == c.nodes[b]:
			c.pairs = append(c.pairs, i)
		}
	})
	return c
}

// set sets the edges of free pairs in place.
func (c covariates) set(edges []bool, d int, to bool) []bool {
	if c.free != nil {
		eachPair(d, func(i, j, k int) {
			if c.free[graph.PackedIndex(d, j, k)] {
				edges[i] = to
			}
		})
	}
	return edges
}

// columns expands edges of nodes to pairs of columns; free pairs are false.
func (c covariates) columns(edges []bool) []bool {
	if c.free == nil {
		return edges
	}
	a := network.Adjacency{D: len(c.nodes), Edge: edges}
	var out []bool
	eachPair(len(c.of), func(_, j, k int) {
		first, second := c.of[j], c.of[k]
		out = append(out, first >= 0 && second >= 0 && a.Has(first, second))
	})
	return out
}

// ofNodes returns pairs of nodes, by first columns.
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

// precision returns the packed matrix of the nodes. A pair with a block has −strength √(Q_aa Q_bb)
// (sparse.Matrix.Strengths), with Q_aa = 1 for blocks.
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

// largest returns the largest ‖G_AB‖/√(|A||B|) over pairs of nodes A, B: the λ of the empty network
// of the group lasso (sparse.Lasso.Blocks).
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

// weights are 0 for free pairs; nil if there are none.
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

// nullGradient returns the derivatives of ½ tr(PSP) − tr P, S (d, d), at the minimum without edges; 0 for free
// pairs. ok is false if P diverges or is not positive definite.
func (c covariates) nullGradient(d int, moments []float64) (derivative func(j, k int) float64, ok bool) {
	s, ctx := mat.NewSymDense(d, moments), context.Background() // few pairs: fast
	p := sparse.Identity(d)
	for j := range d {
		p.Diagonal[j] = 1 / s.At(j, j)
		for k := j + 1; k < d; k++ {
			if c.free[graph.PackedIndex(d, j, k)] {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, 0)
			}
		}
	}
	lasso := sparse.Lasso{D: d, S: moments, Tolerance: nullTolerance}
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
