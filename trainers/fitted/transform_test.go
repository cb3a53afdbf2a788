package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/transform"
	"missingscore/internal/testtables"
	"missingscore/trainers/fitted"
)

// A Gaussian of (log a, b, √c), after a file, with its covariance.
func logNormal(t *testing.T) (*fitted.Model, *mat.SymDense, []float64) {
	t.Helper()
	names := []string{"a", "b", "c"}
	cov, mean := mat.NewSymDense(3, []float64{0.5, 0.3, 0.1, 0.3, 1, 0.2, 0.1, 0.2, 0.4}), []float64{1, -0.5, 5}
	var factor mat.Cholesky
	require.True(t, factor.Factorize(cov))
	var precision mat.SymDense
	require.NoError(t, factor.InverseTo(&precision))
	g := model.NewGaussian(3, model.CholeskyFactor)
	require.NoError(t, g.SetPrecision(&precision))
	g.SetMean(mean)
	spec, err := transform.Parse([]string{"a=log", "c=sqrt"})
	require.NoError(t, err)
	table, err := data.NewTable(names, []float64{1, 0, 1, 2, 1, 2}, nil)
	require.NoError(t, err)
	functions, err := spec.Fit(table, nil)
	require.NoError(t, err)
	s := fitted.Saved{Kind: "gaussian", Model: g, Names: names, Transform: functions,
		Scale: data.Scale{Mean: []float64{0.9, -0.4, 4.9}, Deviation: []float64{0.7, 1.1, 0.6}}}
	back, _ := reloaded(t, &s)
	ready, err := back.Fitted()
	require.NoError(t, err)
	return ready, cov, mean
}

// gonum's normal density times the log-normal factors.
func TestTransformedScores(t *testing.T) {
	f, cov, mean := logNormal(t)
	normal, ok := distmv.NewNormal(mean, cov, nil)
	require.True(t, ok)
	density := func(x []float64) float64 { // of (a, b, c) by the change of variables
		return normal.LogProb([]float64{math.Log(x[0]), x[1], math.Sqrt(x[2])}) - math.Log(x[0]) - math.Log(2*math.Sqrt(x[2]))
	}
	rows := []float64{3, 0.2, 30, 0.4, -2, 16, 8, 1, 25}
	table := &data.Table{Names: f.Names, N: 3, D: 3, Values: rows, Observed: slices.Repeat([]bool{true}, 9)}
	r, err := fitted.Score(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	for i := range 3 {
		x := rows[3*i : 3*i+3]
		require.InDelta(t, density(x)-density(rows[:3]), r.LogDensity[i]-r.LogDensity[0], 1e-9)
		for j := range 3 {
			const step = 1e-5
			up, down := slices.Clone(x), slices.Clone(x)
			up[j], down[j] = up[j]+step, down[j]-step
			require.InDelta(t, (density(up)-density(down))/(2*step), r.Score[3*i+j], 1e-6, "row %d, column %d", i, j)
		}
	}
}

// The log of a given b is normal with the regression's mean and variance.
func TestTransformedDraws(t *testing.T) {
	f, cov, mean := logNormal(t)
	const n = 20000
	r, err := fitted.Impute(t.Context(), f, table(f.Names, []float64{nan, 1.3, nan}), fitted.ImputeConfig{Draws: n, Seed: 1})
	require.NoError(t, err)
	normal, ok := distmv.NewNormal(mean, cov, nil)
	require.True(t, ok)
	latent := func(values []float64) *mat.Dense {
		y := mat.NewDense(n, 3, values)
		y.Apply(func(_, j int, v float64) float64 {
			return []func(float64) float64{math.Log, func(v float64) float64 { return v }, math.Sqrt}[j](v)
		}, y)
		return y
	}
	testtables.RequireNormal(t, given(t, normal, []float64{nan, 1.3, nan}), latent(r.Values), []int{0, 2})
	rows, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: n, Seed: 2})
	require.NoError(t, err)
	testtables.RequireNormal(t, normal, latent(rows.Values), []int{0, 1, 2})
}
