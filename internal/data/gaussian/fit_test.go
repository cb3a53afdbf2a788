package gaussian_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/internal/data/gaussian"
)

// x → y → z, y hidden where x is negative.
func hiddenWhereLow(n int, rng *rand.Rand) *data.Table {
	t := &data.Table{Names: []string{"x", "y", "z"}, N: n, D: 3}
	for range n {
		x := rng.NormFloat64()
		y := 0.8*x + 0.6*rng.NormFloat64()
		z := 0.5*y + 0.866*rng.NormFloat64()
		t.Values, t.Observed = append(t.Values, x, y, z), append(t.Observed, true, x >= 0, true)
	}
	return t
}

// Only one column has missing cells: maximum likelihood is its regression (Anderson 1957).
func TestNormalIsMaximumLikelihood(t *testing.T) {
	table := hiddenWhereLow(3000, rand.New(rand.NewPCG(4, 4)))
	m := gaussian.Fit(table, 1000, 1e-9)
	var x, z, design, y []float64
	for i := range table.N {
		row := table.Values[3*i : 3*i+3]
		x, z = append(x, row[0]), append(z, row[2])
		if table.Observed[3*i+1] {
			design, y = append(design, 1, row[0], row[2]), append(y, row[1])
		}
	}
	var beta mat.VecDense
	require.NoError(t, beta.SolveVec(mat.NewDense(len(y), 3, design), mat.NewVecDense(len(y), y)))
	mx, mz := stat.Mean(x, nil), stat.Mean(z, nil)
	require.InDelta(t, beta.AtVec(0)+beta.AtVec(1)*mx+beta.AtVec(2)*mz, m.Mean[1], 1e-4)
	require.Greater(t, math.Abs(stat.Mean(y, nil)-m.Mean[1]), 0.4, "the observed mean is another")
	cov := func(a, b []float64) float64 { return stat.Covariance(a, b, nil) * float64(len(a)-1) / float64(len(a)) }
	covariance := beta.AtVec(1)*cov(x, x) + beta.AtVec(2)*cov(x, z)
	require.InDelta(t, covariance, m.Covariance.At(0, 1), 1e-4)

	var residual mat.VecDense
	residual.MulVec(mat.NewDense(len(y), 3, design), &beta)
	residual.SubVec(mat.NewVecDense(len(y), y), &residual)
	variance := mat.Dot(&residual, &residual) / float64(len(y))
	covarianceZ := beta.AtVec(1)*cov(x, z) + beta.AtVec(2)*cov(z, z)
	require.InDelta(t, covarianceZ, m.Covariance.At(1, 2), 1e-4)
	require.InDelta(t, variance+beta.AtVec(1)*covariance+beta.AtVec(2)*covarianceZ, m.Covariance.At(1, 1), 1e-4)

	c := gaussian.NewFiller(table, nil)
	c.Fill(m)
	joint, ok := distmv.NewNormal(m.Mean, m.Covariance, nil)
	require.True(t, ok)
	for i := range 20 {
		if row := table.Values[3*i : 3*i+3]; !table.Observed[3*i+1] {
			given, ok := joint.ConditionNormal([]int{0, 2}, []float64{row[0], row[2]}, nil)
			require.True(t, ok)
			require.InDelta(t, given.Mean(nil)[0], c.X[3*i+1], 1e-8)
		}
	}
}

func TestWithoutAColumn(t *testing.T) {
	const n, d = 60, 5
	rng := rand.New(rand.NewPCG(8, 8))
	table := &data.Table{Names: []string{"a", "b", "c", "e", "f"}, N: n, D: d}
	for i := range n {
		common := rng.NormFloat64()
		for range d {
			table.Values = append(table.Values, common+rng.NormFloat64())
			table.Observed = append(table.Observed, i%7 == 0 || rng.Float64() < 0.6)
		}
	}
	m := gaussian.Fit(table, 20, 1e-6)
	places := []int{3, 0, 4}
	changed := gaussian.NewFiller(table, nil)
	for b, x := range changed.Without(m, places, 3) {
		var others []int
		for j := range d {
			if j != places[b] {
				others = append(others, j)
			}
		}
		c := gaussian.NewFiller(table, others)
		c.Fill(m)
		require.InDeltaSlice(t, c.X, x, 1e-9)
		with := 0.0
		for i := range n {
			for a, j := range others {
				with = max(with, math.Abs(changed.X[i*d+j]-x[i*(d-1)+a]))
			}
		}
		require.Greater(t, with, 0.1, "filling with the column is another")
	}
	part := gaussian.NewFiller(table, []int{4, 1, 2}) // places among these
	c := gaussian.NewFiller(table, []int{4, 2})
	c.Fill(m)
	require.InDeltaSlice(t, c.X, part.Without(m, []int{1}, 1)[0], 1e-9)
}
