package graphs

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

func TestRandomNetworks(t *testing.T) {
	positive, edges := 0, 0
	for seed := range uint64(40) {
		g, err := Random(20, stream.New(seed, stream.Simulate))
		require.NoError(t, err)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(g.Precision, false))
		require.InDelta(t, 0.2, eigen.Values(nil)[0], 1e-9)
		for j := range 20 {
			for k := range j {
				if g.Precision.At(j, k) != 0 {
					edges++
				}
				if g.Precision.At(j, k) > 0 {
					positive++
				}
			}
		}
	}
	const pairs, p = 40 * 190, 3. / 19
	require.InDelta(t, p*pairs, edges, 4*math.Sqrt(pairs*p*(1-p)))
	require.InDelta(t, float64(edges)/2, positive, 4*math.Sqrt(float64(edges))/2)
}

// The smallest eigenvalue is 0.2 up to the tolerance of the Lanczos method.
func TestWideNetworks(t *testing.T) {
	g, err := Random(wide, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	for less, definite := range map[float64]bool{0.1999: true, 0.2001: false} {
		p := mat.NewSymDense(wide, nil)
		p.CopySym(g.Precision)
		for j := range wide {
			p.SetSym(j, j, p.At(j, j)-less)
		}
		var factor mat.Cholesky
		require.Equal(t, definite, factor.Factorize(p))
	}
}

// Some pairs without an edge correlate more than edges do; on the paper's star none.
func TestCollidersMisleadCorrelations(t *testing.T) {
	star, err := simulate.Star(20, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	collider := Colliders(20)
	correlations := func(g simulate.Gaussian) (of func(j, k int) float64, edge func(j, k int) bool) {
		var c mat.Dense
		require.NoError(t, c.Inverse(g.Precision))
		return func(j, k int) float64 { return c.At(j, k) / math.Sqrt(c.At(j, j)*c.At(k, k)) },
			func(j, k int) bool { return g.Precision.At(j, k) != 0 }
	}
	misled := func(g simulate.Gaussian) (pairs int) { // edges that correlate less than some pair without an edge
		of, edge := correlations(g)
		most := 0.0
		for k := range 20 {
			for j := range k {
				if !edge(j, k) {
					most = max(most, math.Abs(of(j, k)))
				}
			}
		}
		for k := range 20 {
			for j := range k {
				if edge(j, k) && math.Abs(of(j, k)) < most-1e-9 {
					pairs++
				}
			}
		}
		return pairs
	}
	require.Equal(t, 4*3, misled(collider), "all edges of four colliders")
	require.Zero(t, misled(star))
	of, edge := correlations(collider)
	require.InDelta(t, 0.85, of(0, 7), 1e-12)
	require.InDelta(t, 0.7225, of(1, 7), 1e-12)
	require.InDelta(t, 0, of(8, 9), 1e-12)
	require.InDelta(t, 0.55, of(8, 10), 1e-12)
	require.InDelta(t, 0, of(0, 8), 1e-12)
	require.True(t, edge(8, 9))
	p := collider.Precision
	require.InDelta(t, -0.55*0.55/(1-0.55*0.55), -p.At(8, 9)/math.Sqrt(p.At(8, 8)*p.At(9, 9)), 1e-12)
}

// The second network of the path is the truth; the third has all pairs.
func TestRecovery(t *testing.T) {
	truth := Joined([][]float64{{2, 0}, {1, 3}}, 4)
	require.Equal(t, 2, truth.Count())
	require.True(t, truth.Has(0, 2) && truth.Has(1, 3))
	all := Joined([][]float64{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, 4)
	auc, best, err := Recovery(truth, []network.Adjacency{Joined(nil, 4), truth, all})
	require.NoError(t, err)
	require.Equal(t, []float64{1, 1}, []float64{auc, best})
	auc, best, err = Recovery(truth, []network.Adjacency{Joined([][]float64{{0, 1}}, 4), all})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.375, 0.5}, []float64{auc, best}, 1e-12) // ROC point (¼, 0)
}

func TestChosen(t *testing.T) {
	p := mat.NewSymDense(3, []float64{2, 0.1, 0.2, 0.1, 3, 0.3, 0.2, 0.3, 4})
	r := &trainers.NetworkResult{Names: []string{"a", "b", "c"}, Precision: p, Adjacency: Joined([][]float64{{1, 2}}, 3)}
	require.True(t, mat.Equal(mat.NewSymDense(3, []float64{2, 0, 0, 0, 3, 0.3, 0, 0.3, 4}), Chosen(r)))
}
