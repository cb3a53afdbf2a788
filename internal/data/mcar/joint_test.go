package mcar

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"missingscore/data"
)

// The score in blocks of rows equals the score of all rows at once, by QR least squares.
func TestScoreGoesByBlocks(t *testing.T) {
	const n, d = 1300, 4
	rng := rand.New(rand.NewPCG(3, 1))
	table := &data.Table{Names: []string{"a", "b", "c", "e"}, N: n, D: d}
	for range n {
		x := rng.NormFloat64()
		for j := range d {
			table.Values = append(table.Values, x+rng.NormFloat64())
			table.Observed = append(table.Observed, j == 3 || rng.Float64() < 0.7+0.05*x)
		}
	}
	w := newWork(table, table.N)
	predictors := []int{1, 2, 3}
	gaps := w.patterns(predictors)
	require.Equal(t, []int{1, 2}, gaps)
	r := &joint{0, predictors, gaps}
	filled := w.fill(predictors)
	nuisance, y, x := mat.NewDense(n, 1+len(gaps), nil), mat.NewDense(n, 1, nil), mat.NewDense(n, len(predictors), filled)
	seen := func(i, k int) float64 {
		if w.seen(i, k) {
			return 1
		}
		return 0
	}
	for i := range n {
		nuisance.Set(i, 0, 1)
		for a, k := range gaps {
			nuisance.Set(i, 1+a, seen(i, k))
		}
		y.Set(i, 0, seen(i, 0))
	}
	left := func(y *mat.Dense) *mat.Dense {
		var b, out mat.Dense
		require.NoError(t, b.Solve(nuisance, y))
		out.Mul(nuisance, &b)
		out.Sub(y, &out)
		return &out
	}
	e, rest := left(y), left(x)
	var u, v mat.Dense
	u.Apply(func(i, _ int, x float64) float64 { return x * e.At(i, 0) }, rest)
	v.Mul(u.T(), &u)
	sum := mat.NewVecDense(len(predictors), nil)
	for i := range n {
		sum.AddVec(sum, u.RowView(i))
	}
	var solved mat.VecDense
	require.NoError(t, solved.SolveVec(&v, sum))
	nu, q := float64(n-1-len(gaps)+1), float64(len(predictors))
	want := mathext.RegIncBeta((nu-q)/2, q/2, 1-mat.Dot(sum, &solved)/nu)
	require.Greater(t, want, 1e-12)
	require.InEpsilon(t, want, robustScore(w.design(r, filled)), 1e-5)
}
