package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/losses/pairmoments"
)

// a, b1, b2, c, e1, e2, e3 in the blocks a, b, c, e.
func wideTable() *data.Table {
	return &data.Table{D: 7, Names: []string{"a", "b1", "b2", "c", "e1", "e2", "e3"}, Blocks: []data.Block{
		{Name: "a", First: 0, Width: 1}, {Name: "b", First: 1, Width: 2}, {Name: "c", First: 3, Width: 1}, {Name: "e", First: 4, Width: 3}}}
}

func TestBlocksAreNodes(t *testing.T) {
	c := newCovariates(wideTable(), nil)
	require.Equal(t, []string{"a", "b", "c", "e"}, c.names)
	require.Equal(t, []int{0, 1, 3, 4}, c.nodes)
	free := 0
	for _, f := range c.free {
		if f {
			free++
		}
	}
	require.Equal(t, 1+3, free)
	edges := c.columns([]bool{true, false, false, false, true, false}) // ab, ac, ae, bc, be, ce
	require.Equal(t, 2+6, count(edges))
	a := network.Adjacency{D: 7, Edge: edges}
	require.True(t, a.Has(0, 1) && a.Has(0, 2) && a.Has(2, 6) && !a.Has(1, 2) && !a.Has(0, 3))
	require.Equal(t, []bool{true, false, false, false, true, false}, ofNodes(c, edges))

	held := newCovariates(wideTable(), []string{"b"})
	require.Equal(t, []string{"a", "c", "e"}, held.names)
	require.Equal(t, []int{0, 3, 4}, held.nodes)
	require.Equal(t, 3, count(held.columns([]bool{false, true, false}))) // ac, ae, ce
	require.True(t, held.free[graph.PackedIndex(7, 0, 1)] && held.free[graph.PackedIndex(7, 2, 6)] && held.free[graph.PackedIndex(7, 1, 2)])
	require.False(t, held.free[graph.PackedIndex(7, 0, 4)])

	names := []string{"a", "b", "c", "d"}
	numbers := newCovariates(&data.Table{Names: names, D: 4}, []string{"b"}) // pairs ac, ad, cd
	require.Equal(t, []int{0, 2, 3}, numbers.nodes)
	require.Equal(t, []int{1, 2, 5}, numbers.pairs)
	none := covariates{names: names, nodes: []int{0, 1, 2, 3}}
	require.Equal(t, none, newCovariates(&data.Table{Names: names, D: 4}, nil))
}

// With S_AA = 4I and S_BB = I the largest singular value over 2.
func TestPrecisionOfNodes(t *testing.T) {
	c := newCovariates(wideTable(), nil)
	p := mat.NewSymDense(7, nil)
	for j := range 7 {
		p.SetSym(j, j, 1)
	}
	p.SetSym(0, 0, 4)
	p.SetSym(0, 3, -0.5)
	p.SetSym(0, 1, 0.3)
	p.SetSym(0, 2, -0.4)
	p.SetSym(1, 5, 0.2) // singular values of b, e: 0.2 and 0.1
	p.SetSym(2, 4, -0.1)
	q := PointOf(c.precision(graph.Pack(p), 7), 4)
	require.InDelta(t, 0.25, q.PartialCorrelation(0, 2), 1e-12)
	require.Equal(t, -0.5, q.P.Element(0, 2))
	require.InDelta(t, math.Hypot(0.3, 0.4)/2, q.PartialCorrelation(0, 1), 1e-12)
	require.InDelta(t, 0.2, q.PartialCorrelation(1, 3), 1e-12)
	require.Zero(t, q.P.Element(0, 3))
	require.InDelta(t, 0.5, c.largest(func(j, k int) float64 { return math.Abs(p.At(j, k)) }), 1e-12) // ac
	p.SetSym(0, 3, 0)
	require.InDelta(t, 0.5/math.Sqrt2, c.largest(func(j, k int) float64 { return math.Abs(p.At(j, k)) }), 1e-12) // ab
}

// W V⁻¹ S V⁻ᵀ W'.
func TestRewhitened(t *testing.T) {
	blocks := []data.Block{{First: 0, Width: 2}, {First: 2, Width: 1}}
	raw := mat.NewDense(3, 3, []float64{2, 0.5, 0.3, 0.5, 1, -0.2, 0.3, -0.2, 1})
	whiten := func(w []float64) *pairmoments.Moments {
		whole := mat.NewDense(3, 3, []float64{w[0], w[1], 0, w[2], w[3], 0, 0, 0, 1})
		var s mat.Dense
		s.Product(whole, raw, whole.T())
		return &pairmoments.Moments{D: 3, S: s.RawMatrix().Data, Whitening: [][]float64{w, nil}}
	}
	of, by := whiten([]float64{1, 2, 0, 3}), whiten([]float64{0.5, 0, 1, -1})
	require.True(t, mat.EqualApprox(mat.NewDense(3, 3, by.S), rewhitened(of, by, blocks), 1e-12))
}
