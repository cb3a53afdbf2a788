package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/losses"
)

func estimated(t *testing.T, table *data.Table, method string, c Config) *Run {
	t.Helper()
	z, _ := data.Standardise(table)
	r, err := New(engine.Problem{Table: z}, engine.Config{Method: method, Seed: 1, Workers: 2}, c, &State{})
	require.NoError(t, err)
	_, err = r.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	return r
}

func TestPairwiseWithoutGapsIsFull(t *testing.T) {
	_, table := testtables.Star(t, 12, 200, 0)
	c := Config{Lambdas: 12, StopTol: 1e-10, Select: Selection{Kind: "none"}, PathOnly: true}
	pairwise := estimated(t, table, "pairwise", c)
	require.Zero(t, pairwise.matrix.of.Shrunk)
	c.MaxIter, c.LambdaMax = 20_000, pairwise.Config.LambdaMax
	c.LambdaMin = pairwise.Config.LambdaMin
	full := estimated(t, table, "full", c)
	require.InEpsilon(t, LambdaMax(full.Table, nil, full.Weight), pairwise.Config.LambdaMax, 1e-12)
	for k, p := range pairwise.State.Points {
		require.InDeltaSlice(t, full.State.Points[k].Packed, p.Packed, 1e-8, "λ %d", k)
		require.InDelta(t, full.State.Points[k].Loss, p.Loss, 1e-8)
		require.Equal(t, full.State.Points[k].Edges, p.Edges)
		before := model.NewGaussian(12, model.FreeSymmetric).Packed.Value // P = I
		if k > 0 {
			before = pairwise.State.Points[k-1].Packed
		}
		require.Equal(t, floats.Distance(before, p.Packed, math.Inf(1)), p.Change)
	}
	require.Zero(t, pairwise.State.Points[0].Edges)
}

// −2 log L is n (d − log det P̂); the pseudo-likelihood with all pairs is half of n Σ log σ_j².
func TestLikelihoodsByMoments(t *testing.T) {
	_, table := testtables.Star(t, 6, 300, 0.2)
	r := estimated(t, table, "pairwise", Config{Lambdas: 20})
	m, d := r.matrix, 6
	raw := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			raw.SetSym(j, k, m.of.At(0, j, k))
		}
	}
	var c mat.Cholesky
	require.True(t, c.Factorize(raw))
	every := Adjacency(r.State.Points[0].Packed, d, -1)
	require.Equal(t, 15, every.Count())
	require.InDelta(t, -m.of.Pairs/2*(c.LogDet()+float64(d)), m.likelihood(every), 1e-6)
	var inverse mat.SymDense
	require.NoError(t, c.InverseTo(&inverse))
	want := 0.0
	for j := range d {
		want += m.of.Pairs / 4 * math.Log(inverse.At(j, j))
	}
	require.InDelta(t, want, m.pseudoLikelihood(every), 1e-9)
}

func TestPairwiseHeldOutLoss(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.3)
	z, _ := data.Standardise(table)
	r, err := New(engine.Problem{Table: z}, engine.Config{Method: "pairwise"}, Config{Lambdas: 5}, &State{})
	require.NoError(t, err)
	rows := []int{3, 4, 5, 10, 11, 12, 40, 41, 42, 43, 44, 45, 46}
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	loss, err := r.matrix.heldOut(t.Context(), rows)
	require.NoError(t, err)
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	require.NoError(t, r.model.SetPrecision(p))
	r.matrix.at = sparse.FromPacked(r.packed(), 4)
	of, err := losses.GaussianPairwise.(losses.OfMatrix).Matrix(t.Context(), z, rows, nil, 1, false)
	require.NoError(t, err)
	var ps, psp mat.Dense
	ps.Mul(p, mat.NewDense(4, 4, of.S))
	psp.Mul(&ps, p)
	require.InDelta(t, (mat.Trace(&psp)-2*mat.Trace(p))/4, loss(), 1e-12)
}

func TestPairwiseSelections(t *testing.T) {
	_, table := testtables.Star(t, 8, 200, 0.2)
	for _, s := range []string{"ebic", "cv=3", "stars", "density=0.3", "none"} {
		selection, err := ParseSelection(s)
		require.NoError(t, err)
		r := estimated(t, table, "pairwise", Config{Lambdas: 12, Select: selection})
		require.True(t, r.State.Refine.Converged, s)
	}
}

// With V = PS of the moments without shrinkage, V_jj = 1, and V_jk + V_kj = 0 on edges.
func TestPairwiseRefitIsByTheMomentsAsTheyCame(t *testing.T) {
	_, table := testtables.Star(t, 10, 150, 0.4)
	r := estimated(t, table, "pairwise", Config{Lambdas: 20, Tolerance: 1e-6})
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
			require.Equal(t, math.Abs(chosen.element(10, j, k)) > r.Config.Threshold, p.At(j, k) != 0)
			if p.At(j, k) != 0 {
				edges++
				require.InDelta(t, 0, v.At(j, k)+v.At(k, j), 1e-6)
			}
		}
	}
	require.Positive(t, edges)
}
