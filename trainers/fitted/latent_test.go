package fitted_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
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

// The most probable categories: P(b = 1 | a = 2) is below a half, P(a = 1 | b = 0) above the others.
// Package calibration tests the draws.
func TestPointOfCategories(t *testing.T) {
	f := latentModel(t)
	rows := table(f.Names, []float64{2, nan}, []float64{nan, 0}, []float64{1, 1}, []float64{5, 0})
	r := impute(t, f, rows, fitted.ImputeConfig{Draws: 2})
	require.Equal(t, "latent", r.Sampler)
	require.Subset(t, []float64{0, 1, 2, 5}, r.Values)
	p, err := fitted.Point(t.Context(), f, rows, fitted.ImputeConfig{Seed: 3})
	require.NoError(t, err)
	require.Equal(t, []float64{2, 0, 1, 0, 1, 1, 5, 0}, p.Values)
}
