package fitted_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/fitted"
)

// Draws given the first column, densities of single columns that integrate to 1, and shares of levels.
func TestKept(t *testing.T) {
	const d, n, x = 6, 4000, 0.8
	gaps, _ := various(t, 300)
	r := fromPosterior(t, gaps, posterior.Config{Draws: 2, Seed: 1, Keep: 8})
	saved, text := reloaded(t, r.Saved(gaps))
	require.True(t, saved.Outcome.Converged)
	_, again := reloaded(t, saved)
	require.Equal(t, text, again)
	f, err := saved.Fitted()
	require.NoError(t, err)
	for from, wrong := range map[string]string{
		`"log_weights"`: `"log_weight"`, `"version": 2`: `"version": 6`, `"standardised_by"`: `"standardized_by"`,
	} {
		require.Contains(t, text, from)
		_, err := load(t, strings.Replace(text, from, wrong, 1))
		require.ErrorContains(t, err, "is not a usable model")
	}
	require.Equal(t, []string{"a", "c", "d"}, f.Levels[5])
	row := func(at int, v float64) []float64 {
		made := slices.Repeat([]float64{nan}, d)
		made[at] = v
		return made
	}
	imputed, err := fitted.Impute(t.Context(), f, table(gaps.Names, row(0, x)), fitted.ImputeConfig{Draws: n, Seed: 2})
	require.NoError(t, err)
	mean, squares, ones := 0.0, 0.0, 0.0
	for at := 0; at < len(imputed.Values); at += d {
		y := math.Log(max(imputed.Values[at+1], 1e-3))
		mean += y / n
		squares += math.Pow(y-0.9*x, 2) / n
		if imputed.Values[at+2] == 1 {
			ones += 1. / n
		}
	}
	require.InDelta(t, 0.9*x, mean, 0.1)
	require.InDelta(t, 0.3, math.Sqrt(squares), 0.08)
	require.InDelta(t, 0.84, ones, 0.08) // Φ((0.8 − 0.5)/0.3)

	mass := func(step float64, rows [][]float64) (mass float64) {
		s, err := fitted.Score(t.Context(), f, table(gaps.Names, rows...), fitted.ImputeConfig{Seed: 1})
		require.NoError(t, err)
		for _, log := range s.LogDensity {
			mass += step * math.Exp(log)
		}
		return mass
	}
	var fine, pairs [][]float64
	for y := -10.; y < 200; y += 0.02 {
		fine = append(fine, row(1, y))
	}
	require.InDelta(t, 1, mass(0.02, fine), 0.01)
	for yes := range 2 {
		for kind := range 3 {
			pairs = append(pairs, row(3, float64(yes)))
			pairs[len(pairs)-1][5] = float64(kind)
		}
	}
	require.InDelta(t, 1, mass(1, pairs), 0.03)

	var drawn [][]float64
	for _, three := range []float64{1, 4} {
		single := table(gaps.Names, row(2, three))
		r, err := fitted.Impute(t.Context(), f, single, fitted.ImputeConfig{Draws: 5})
		require.NoError(t, err)
		require.Equal(t, three, r.Values[2])
		drawn = append(drawn, r.Values[:2])
		require.Len(t, f.Clamped(single), int(three)/4)
	}
	require.Equal(t, drawn[0], drawn[1], "4 counts as 1, the largest value of the fit")
	clamped := f.Clamped(table(gaps.Names, []float64{x, 1e4, 4, nan, nan, nan}))
	require.Contains(t, clamped[0], "three: outside the values of the model, -1 to 1, in 1 of 1 observed cells")

	_, err = fitted.Impute(t.Context(), f, gaps, fitted.ImputeConfig{Sampler: "mcmc"})
	require.ErrorContains(t, err, "use the sampler predictive")
	_, err = fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: "hmc"})
	require.ErrorContains(t, err, "use the sampler predictive")
	sampled, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: n, Seed: 1})
	require.NoError(t, err)
	shares, seen := make([]float64, 4), gaps.Column(5)
	for _, v := range seen {
		shares[int(v)] += 1 / float64(len(seen))
	}
	for at := 5; at < len(sampled.Values); at += d {
		shares[[]int{0, 2, 3}[int(sampled.Values[at])]] -= 1. / n
	}
	require.InDeltaSlice(t, make([]float64, 4), shares, 0.06)
}
