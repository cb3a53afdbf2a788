package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/testtables"
	"missingscore/losses"
)

// −2 log L is n (d − log det P̂); the pseudo-likelihood with all pairs is half of n Σ log σ_j².
func TestLikelihoodsByMoments(t *testing.T) {
	r, _ := estimate(t, star(t, 6, 300, 0.2), "pairwise", Config{Lambdas: 20})
	m, d := r.matrix, 6
	raw := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			raw.SetSym(j, k, m.of.At(0, j, k))
		}
	}
	var c mat.Cholesky
	require.True(t, c.Factorize(raw))
	every := Adjacency(r.State.Points[0].Packed(), d, -1)
	require.Equal(t, 15, every.Count())
	require.InDelta(t, -m.of.Pairs/2*(c.LogDet()+float64(d)), m.likelihood(every), 1e-6)
	inverse, want := testtables.Inverse(t, raw), 0.0
	for j := range d {
		want += m.of.Pairs / 4 * math.Log(inverse.At(j, j))
	}
	require.InDelta(t, want, m.pseudoLikelihood(every), 1e-9)
}

// With V = PS of the moments without shrinkage, V_jj = 1, and V_jk + V_kj = 0 on edges.
func TestPairwiseRefitIsByTheMomentsAsTheyCame(t *testing.T) {
	r, _ := estimate(t, star(t, 10, 150, 0.4), "pairwise", Config{Lambdas: 20, Tolerance: 1e-6})
	require.Positive(t, r.matrix.of.Shrunk)
	require.Zero(t, r.State.Refine.Shrunk)
	require.Contains(t, r.MatrixWords(), "sizes of edges use the moments without shrinkage")
	of, err := losses.GaussianPairwise.(losses.OfMatrix).Matrix(t.Context(), r.Table, r.rows, nil, 1, false)
	require.NoError(t, err)
	var v mat.Dense
	p := r.model.Precision()
	v.Mul(p, mat.NewDense(10, 10, of.S))
	edges, chosen := 0, r.State.Points[r.State.Refine.Index]
	for j := range 10 {
		require.InDelta(t, 1, v.At(j, j), 1e-6)
		for k := j + 1; k < 10; k++ {
			require.Equal(t, math.Abs(chosen.P.Element(j, k)) > r.Config.Threshold, p.At(j, k) != 0)
			if p.At(j, k) != 0 {
				edges++
				require.InDelta(t, 0, v.At(j, k)+v.At(k, j), 1e-6)
			}
		}
	}
	require.Positive(t, edges)
}
