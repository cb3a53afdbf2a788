// Package testtables has simulated tables and comparisons for tests.
package testtables

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// Star is a simulated star network with gaps.
func Star(t testing.TB, d, n int, missing float64) (simulate.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(1, stream.Simulate)
	g, err := simulate.Star(d, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, missing, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return g, table
}

// Normal is an incomplete table of four columns and its truth.
func Normal(t testing.TB, n int, seed uint64) (simulate.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(seed, stream.Simulate)
	g, err := simulate.Normal(4, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.4, rng)
	require.NoError(t, err)
	return g, table
}

// Pair is N((½, −0.3), P⁻¹) with self-masking that also looks at the other column, and thresholds.
func Pair() (g simulate.Gaussian, logistic, censored *missingness.Model) {
	g = simulate.Gaussian{Mean: []float64{0.5, -0.3}, Precision: mat.NewSymDense(2, []float64{1.2, 0.5, 0.5, 1})}
	l := missingness.NewLogistic(2)
	l.Intercept[0], l.Intercept[1] = 0.8, 0.6
	l.Slope.SetRow(0, []float64{-1.5, 0.5})
	l.Slope.SetRow(1, []float64{0, 1.2})
	inf := math.Inf(1)
	return g, &missingness.Model{Logistic: l}, &missingness.Model{Censored: &missingness.Censored{Below: []float64{-inf, -0.8}, Above: []float64{1, inf}}}
}

// At is a Gaussian model with these parameters.
func At(t testing.TB, g simulate.Gaussian) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(len(g.Mean), model.CholeskyFactor)
	m.SetMean(g.Mean)
	require.NoError(t, m.SetPrecision(g.Precision))
	return m
}

// Hidden are draws of a normal distribution with cells hidden by a mechanism.
func Hidden(t testing.TB, g simulate.Gaussian, by missingness.Mechanism, n int, keys ...uint64) *data.Table {
	t.Helper()
	complete, err := g.Sample(n, stream.New(41, append(keys, stream.Simulate)...))
	require.NoError(t, err)
	table, err := missingness.Hide(complete, by, stream.New(41, append(keys, stream.Hide)...))
	require.NoError(t, err)
	return table
}

// MeanSE are the means of repeated gradients and their standard errors.
func MeanSE(repeats int, gradient func(k int) []float64) (mean, se []float64) {
	n := float64(repeats)
	for k := range repeats {
		g := gradient(k)
		if k == 0 {
			mean, se = make([]float64, len(g)), make([]float64, len(g))
		}
		for i, v := range g {
			mean[i] += v / n
			se[i] += v * v / n
		}
	}
	for i, square := range se {
		se[i] = math.Sqrt(max(square-mean[i]*mean[i], 0) / (n - 1))
	}
	return mean, se
}

// Worst is the largest of |mean|/se.
func Worst(mean, se []float64) (z float64) {
	for i := range mean {
		z = max(z, math.Abs(mean[i])/se[i])
	}
	return z
}

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
