package path

import (
	"context"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/pairwise"
)

// Covariates are columns that are held constant: members of the normal distribution, but none
// of the network, whose partial correlations are given them. Their pairs are without a penalty,
// in every network of the path, and counted nowhere (docs/theory/path.md#covariates).
type covariates struct {
	nodes []int  // the other columns
	free  []bool // of packed P: pairs with a covariate; nil: there are none
	pairs []int  // of the pairs of nodes, in their order: the place among all; nil without covariates: their order
}

// newCovariates finds columns by their names.
func newCovariates(names, of []string) (c covariates) {
	d, i := len(names), 0
	if len(of) == 0 {
		for j := range d {
			c.nodes = append(c.nodes, j)
		}
		return c
	}
	is := func(j int) bool { return slices.Contains(of, names[j]) }
	c.free = make([]bool, d*(d+1)/2)
	for j := range d {
		if !is(j) {
			c.nodes = append(c.nodes, j)
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

// checkCovariates refuses columns that there are not, and what is not known with covariates.
func (c Config) checkCovariates(p engine.Problem) error {
	if len(c.Covariates) == 0 {
		return nil
	}
	refused := func(why string) error {
		return setting.Errorf("covariates", strings.Join(c.Covariates, ","), "%s", why)
	}
	for i, name := range c.Covariates {
		if !slices.Contains(p.Table.Names, name) {
			return setting.Errorf("covariates", name, "there is no such column%s; columns are %s", spelling.DidYouMean(name, p.Table.Names), strings.Join(p.Table.Names, ", "))
		}
		if slices.Contains(c.Covariates[:i], name) {
			return setting.Errorf("covariates", name, "it is named twice")
		}
	}
	switch {
	case p.Table.D-len(c.Covariates) < 2:
		return refused("a network needs two columns at least that are none of them")
	case p.Domain.Bounded() || p.Missingness != nil:
		return refused("they are for columns without bounds whose cells are missing at random: leave the bounds or the law of missing cells out, or take the covariates as columns of the network")
	case c.Penalty != (Penalty{}) && c.Penalty.Kind != (l1{}).name():
		return refused("their pairs are without a penalty, which " + c.Penalty.Kind + " has no place for: take --penalty l1")
	case c.Schedule == Fixed:
		return refused("their pairs are without a penalty, which steps along draws have no place for: take --method em-exact")
	case c.Select.Kind == (stability{}).name():
		return refused("the bounds of --select stability are for networks whose pairs have all to be chosen: take ebic or fdr")
	}
	return nil
}

// Nodes are the places of the table's columns that are none of the covariates.
func (r *Run) Nodes() []int { return r.covariates.nodes }

// OfNodes are those of values of all pairs of columns, (0,1), (0,2), …, which are of pairs of nodes.
func OfNodes[T any](r *Run, values []T) []T {
	if r.covariates.free == nil || values == nil {
		return values
	}
	out := make([]T, 0, len(r.covariates.pairs))
	for _, at := range r.covariates.pairs {
		out = append(out, values[at])
	}
	return out
}

// candidates are the pairs that can be edges.
func (r *Run) candidates() int { q := len(r.Nodes()); return q * (q - 1) / 2 }

// pairAt is the place of a pair of nodes among all pairs of columns.
func (c covariates) pairAt(i int) int {
	if c.free == nil {
		return i
	}
	return c.pairs[i]
}

// Network has the edges of a packed P among the nodes.
func (r *Run) Network(packed []float64) network.Adjacency {
	edges := OfNodes(r, Adjacency(packed, r.Table.D, r.Config.Threshold).Edge)
	return network.Adjacency{D: len(r.Nodes()), Edge: edges}
}

// adjacency has the edges of a point, of all columns, pairs of covariates not among them.
func (r *Run) adjacency(p Point) network.Adjacency {
	a := p.Adjacency(r.Table.D, r.Config.Threshold)
	r.eachFree(func(pair, _ int) { a.Edge[pair] = false })
	return a
}

// joined is adjacency with the pairs of covariates, which are in every network.
func (r *Run) joined(p Point) network.Adjacency {
	a := p.Adjacency(r.Table.D, r.Config.Threshold)
	r.eachFree(func(pair, _ int) { a.Edge[pair] = true })
	return a
}

// eachFree visits the pairs of covariates: their places among all pairs, and in a packed P.
func (r *Run) eachFree(visit func(pair, packed int)) {
	if r.covariates.free == nil {
		return
	}
	for j, i := 0, 0; j < r.Table.D; j++ {
		for k := j + 1; k < r.Table.D; k, i = k+1, i+1 {
			if at := graph.PackedIndex(r.Table.D, j, k); r.covariates.free[at] {
				visit(i, at)
			}
		}
	}
}

// without says which elements of a packed P are a pair's that is no edge.
func (r *Run) without(packed []float64) []bool {
	return r.release(withoutEdge(packed, r.Table.D, r.Config.Threshold))
}

// release lets the pairs of covariates go.
func (r *Run) release(held []bool) []bool {
	r.eachFree(func(_, packed int) { held[packed] = false })
	return held
}

// weighCovariates sets the weights of the penalty to 0 for pairs of covariates.
func (r *Run) weighCovariates() {
	if r.covariates.free == nil {
		return
	}
	weights := make([]float64, len(r.covariates.free))
	for i, free := range r.covariates.free {
		if !free {
			weights[i] = 1
		}
	}
	r.weigh(weights)
}

// nullGradient gives, of ½ tr(PSP) − tr P, the derivative by a pair of nodes at the minimum over
// all P in which no two nodes are joined, while pairs of covariates are free; 0 for these. There
// is none where P runs away, for S is of pairs of columns, or is not positive definite: the path
// has to begin with another.
func (c covariates) nullGradient(s *mat.SymDense) (derivative func(j, k int) float64, ok bool) {
	d, ctx := s.SymmetricDim(), context.Background() // an estimate of few pairs ends at once
	p := pairwise.Identity(d)
	for j := range d {
		p.Diagonal[j] = 1 / s.At(j, j)
		for k := j + 1; k < d; k++ {
			if c.free[graph.PackedIndex(d, j, k)] {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, 0)
			}
		}
	}
	lasso := pairwise.Lasso{D: d, S: mat.DenseCopyOf(s).RawMatrix().Data, Tolerance: nullTolerance}
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

const nullTolerance = 1e-10 // of a derivative there

// Point is a point of the path with the nodes alone.
func (r *Run) Point(p Point) Point {
	if r.covariates.free == nil {
		return p
	}
	d, q := r.Table.D, len(r.Nodes())
	packed := make([]float64, q*(q+1)/2)
	for a, j := range r.Nodes() {
		for b, k := range r.Nodes()[a:] {
			packed[graph.PackedIndex(q, a, a+b)] = p.Element(d, j, k)
		}
	}
	p.Linear = nil
	p.setPrecision(packed, q)
	return p
}
