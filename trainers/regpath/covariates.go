package regpath

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/trainers/gaussian/sparse"
)

// covariates are columns that are held constant: members of the normal distribution, but no nodes
// of the network, whose partial correlations are given them. Their pairs are without a penalty, in
// every network of the path, and counted nowhere (docs/theory/path.md#covariates).
type covariates struct {
	nodes []int  // the other columns
	free  []bool // of packed P: pairs with a covariate; nil: there are none
	pairs []int  // the places of the pairs of nodes among all pairs; nil without covariates
}

// newCovariates finds columns by their names.
func newCovariates(names, of []string) (c covariates) {
	d, i := len(names), 0
	if len(of) > 0 {
		c.free = make([]bool, d*(d+1)/2)
	}
	is := func(j int) bool { return slices.Contains(of, names[j]) }
	for j := range d {
		if !is(j) {
			c.nodes = append(c.nodes, j)
		}
		if c.free == nil {
			continue
		}
		for k := j + 1; k < d; k, i = k+1, i+1 {
			if !is(j) && !is(k) {
				c.pairs = append(c.pairs, i)
			} else {
				c.free[graph.PackedIndex(d, j, k)] = true
			}
		}
	}
	return c
}

// pairAt is the place of a pair of nodes among all pairs of columns.
func (c covariates) pairAt(i int) int {
	if c.free == nil {
		return i
	}
	return c.pairs[i]
}

// set sets the edges of pairs with a covariate, and gives edges back.
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

// weights are those of the penalty, packed: 0 for pairs with a covariate; nil without covariates.
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

// nullGradient gives, of ½ tr(PSP) − tr P, the derivative by a pair of nodes at the minimum over
// all P in which no two nodes are joined, while pairs with a covariate are free; 0 for these. It is
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
