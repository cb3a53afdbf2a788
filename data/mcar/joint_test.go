package mcar

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"missingscore/data"
)

// The score of more rows than a block has is that of all rows at once, from least squares by
// an orthogonal factorisation.
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

// Columns whose gaps are in the same rows count once, those without gaps not at all.
func TestPatternsCountOnce(t *testing.T) {
	table := &data.Table{N: 3, D: 4, Values: make([]float64, 12), Observed: []bool{
		true, false, false, true,
		true, true, true, false,
		true, false, false, true,
	}}
	w := newWork(table, table.N)
	require.Equal(t, []int{1, 3}, w.patterns([]int{0, 1, 2, 3}))
	require.Equal(t, []int{2}, w.patterns([]int{0, 2}))
	require.Empty(t, w.patterns([]int{0}))
}

// Columns that are filled together, and by several workers, are tested as by themselves.
func TestSharesOfColumns(t *testing.T) {
	const n, d = 700, 12
	rng := rand.New(rand.NewPCG(5, 2))
	table := &data.Table{N: n, D: d}
	for j := range d {
		table.Names = append(table.Names, string(rune('a'+j)))
	}
	for i := range n {
		x := rng.NormFloat64()
		for j := range d {
			table.Values = append(table.Values, x+rng.NormFloat64())
			table.Observed = append(table.Observed, j == 11 && i%50 != 0 || rng.Float64() < 0.5) // the last in too few gaps for a joint test
		}
	}
	want := newWork(table, n)
	for _, workers := range []int{1, 3} {
		w := newWork(table, n)
		w.room = 4 * n * d // shares of four columns
		got := w.tests(workers, withGaps(table))
		holm(got)
		require.Len(t, got, d)
		for j, c := range got {
			require.Equal(t, j < 11, c.Joint)
			if c.Joint {
				var others []int
				for k := range d {
					if k != j {
						others = append(others, k)
					}
				}
				r := want.newJoint(j, others)
				require.InEpsilon(t, robustScore(want.design(r, want.fill(others))), c.P, 1e-6, "column %d", j)
			}
		}
		at := newWork(table, n).tests(1, withGaps(table))
		holm(at)
		require.Equal(t, at, got, "by %d workers", workers)
	}
}

// The number of rows tested falls with the columns, to no less than those that the normal
// distribution is fitted to.
func TestRowsOfManyColumns(t *testing.T) {
	require.Equal(t, 100_000, mostRows(10))
	require.Equal(t, mostCells/100, mostRows(100))
	require.Equal(t, 20_000_000_000/(150*150*150), mostRows(150))
	require.Equal(t, fitRows, mostRows(1000))
}
