package testtables

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/internal/stream"
)

// RequireNormal compares the moments of columns of the draws with a normal's, within 4.5 standard errors.
func RequireNormal(t testing.TB, truth *distmv.Normal, draws *mat.Dense, columns []int) {
	t.Helper()
	var sigma mat.SymDense
	truth.CovarianceMatrix(&sigma)
	rows, _ := draws.Dims()
	n := float64(rows)
	for a, j := range columns {
		x := mat.Col(nil, j, draws)
		require.InDelta(t, truth.Mean(nil)[a], stat.Mean(x, nil), 4.5*math.Sqrt(sigma.At(a, a)/n))
		require.InEpsilon(t, sigma.At(a, a), stat.Variance(x, nil), 4.5*math.Sqrt(2/n))
		for b := range a {
			se := math.Sqrt((sigma.At(a, a)*sigma.At(b, b) + sigma.At(a, b)*sigma.At(a, b)) / n)
			require.InDelta(t, sigma.At(a, b), stat.Covariance(x, mat.Col(nil, columns[b], draws), nil), 4.5*se)
		}
	}
}

// Covariances are the second moments (d, d), row by row, of n correlated rows.
func Covariances(d, n int, seed uint64) []float64 {
	rng := stream.New(seed, 1)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*(1+0.1*float64(j%7))+0.6*common)
		}
	}
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1/float64(n), x.T())
	return mat.DenseCopyOf(s).RawMatrix().Data
}
