package fitted_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/binormal"
	"missingscore/internal/data/transform"
	"missingscore/trainers/fitted"
)

// Correlation 0.6, thresholds −0.5, 0.7 and 0.2.
func latentModel(t *testing.T) *fitted.Model {
	t.Helper()
	const rho = 0.6
	functions, err := transform.Read([]byte(`{"a": {"kind": "ordinal", "categories": [1, 2, 5], "thresholds": [-0.5, 0.7]}, "b": {"kind": "ordinal", "categories": [0, 1], "thresholds": [0.2]}}`), []string{"a", "b"})
	require.NoError(t, err)
	m := model.NewGaussian(2, model.CholeskyFactor)
	own := 1 / (1 - rho*rho)
	require.NoError(t, m.SetPrecision(mat.NewSymDense(2, []float64{own, -rho * own, -rho * own, own})))
	saved := &fitted.Saved{Kind: "gaussian", Model: m, Names: []string{"a", "b"}, Transform: functions}
	again, text := reloaded(t, saved)
	require.Contains(t, text, "thresholds")
	f, err := again.Fitted()
	require.NoError(t, err)
	return f
}

// P(b = 1 | a = 2) and P(a = 1 | b = 0) are ratios of masses of rectangles; standard errors below
// 0.01.
func TestDrawsOfCategories(t *testing.T) {
	f := latentModel(t)
	table, err := data.NewTable([]string{"a", "b"}, []float64{2, 0, 0, 0, 1, 1, 5, 0}, []bool{true, false, false, true, true, true, true, true})
	require.NoError(t, err)
	const draws = 4000
	r := impute(t, f, table, fitted.ImputeConfig{Draws: draws, Seed: 3})
	require.Equal(t, "latent", r.Sampler)
	share := func(i, j int, v float64) (s float64) {
		for at := i * draws; at < (i+1)*draws; at++ {
			if r.Values[2*at+j] == v {
				s += 1. / draws
			}
		}
		return s
	}
	z, inf := distuv.UnitNormal, math.Inf(1)
	below := binormal.CDF(.7, .2, .6) - binormal.CDF(-.5, .2, .6)
	b := 1 - below/(z.CDF(.7)-z.CDF(-.5))
	require.InDelta(t, b, share(0, 1, 1), 0.03)
	require.InDelta(t, 1-b, share(0, 1, 0), 0.03)
	require.InDelta(t, binormal.CDF(-.5, .2, .6)/z.CDF(.2), share(1, 0, 1), 0.03)
	require.InDelta(t, (binormal.CDF(inf, .2, .6)-binormal.CDF(.7, .2, .6))/z.CDF(.2), share(1, 0, 5), 0.03)
	p, err := fitted.Point(t.Context(), f, table, fitted.ImputeConfig{Seed: 3})
	require.NoError(t, err)
	require.Equal(t, []float64{2, 0, 1, 0, 1, 1, 5, 0}, p.Values, "the most probable categories: P(b = 1) is below a half, P(a = 1) above those of 2 and 5")
}
