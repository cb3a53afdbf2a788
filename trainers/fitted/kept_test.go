package fitted_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/fitted"
)

func kept(t *testing.T, gaps *data.Table) *fitted.Model {
	r := fromPosterior(t, gaps, nil, posterior.Config{Draws: 2, Seed: 1, Keep: 8})
	saved, text := reloaded(t, r.Saved(gaps))
	require.True(t, saved.Outcome.Converged)
	_, again := reloaded(t, saved)
	require.Equal(t, text, again)
	f, err := saved.Fitted()
	require.NoError(t, err)
	for from, wrong := range map[string]string{
		`"log_weights"`: `"log_weight"`, `"version": 5`: `"version": 6`, `"standardised_by"`: `"standardized_by"`,
	} {
		require.Contains(t, text, from)
		_, err := load(t, strings.Replace(text, from, wrong, 1))
		require.ErrorContains(t, err, "is not a usable model")
	}
	return f
}

// The density of a log-normal column with normal scores integrates to 1.
func TestKept(t *testing.T) {
	gaps, _ := mixed(t, 400)
	f := kept(t, gaps)
	const x = 0.8
	rows := make([][]float64, 200)
	for i := range rows {
		rows[i] = []float64{x, nan, nan}
	}
	r, err := fitted.Impute(t.Context(), f, table(gaps.Names, rows...), fitted.ImputeConfig{Draws: 20, Seed: 2, Workers: 2})
	require.NoError(t, err)
	mean, squares, ones := 0.0, 0.0, 0.0
	for at := 0; at < len(r.Values); at += 3 {
		y := math.Log(max(r.Values[at+1], 1e-3))
		mean += y / 4000
		squares += math.Pow(y-0.9*x, 2) / 4000
		if r.Values[at+2] == 1 {
			ones += 1. / 4000
		}
	}
	require.InDelta(t, 0.9*x, mean, 0.1)
	require.InDelta(t, 0.3, math.Sqrt(squares), 0.08)
	require.InDelta(t, 0.84, ones, 0.08) // Φ((0.8 − 0.5)/0.3)

	const from, to, step = -10., 200., 0.02
	rows = nil
	for y := from; y < to; y += step {
		rows = append(rows, []float64{nan, y, nan})
	}
	s, err := fitted.Score(t.Context(), f, table(gaps.Names, rows...), fitted.ImputeConfig{Seed: 1})
	require.NoError(t, err)
	mass := 0.0
	for _, log := range s.LogDensity {
		mass += step * math.Exp(log)
	}
	require.InDelta(t, 1, mass, 0.01)

	var drawn [][]float64
	for _, three := range []float64{1, 4} {
		row := table(gaps.Names, []float64{nan, nan, three})
		r, err := fitted.Impute(t.Context(), f, row, fitted.ImputeConfig{Draws: 5})
		require.NoError(t, err)
		require.Equal(t, three, r.Values[2])
		drawn = append(drawn, []float64{r.Values[0], r.Values[1]})
		require.Len(t, f.Clamped(row), int(three)/4)
	}
	require.Equal(t, drawn[0], drawn[1], "4 counts as 1, the largest value of the fit")
	require.Contains(t, f.Clamped(table(gaps.Names, []float64{x, 1e4, 4}))[0], "three: outside the values of the model, -1 to 1, in 1 of 1 observed cells")
	_, err = fitted.Impute(t.Context(), f, gaps, fitted.ImputeConfig{Sampler: "mcmc"})
	require.ErrorContains(t, err, "use the sampler predictive")
	_, err = fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: "hmc"})
	require.ErrorContains(t, err, "use the sampler predictive")
}

func TestKeptLevels(t *testing.T) {
	gaps, _ := coded(t, 300)
	f := kept(t, gaps)
	require.Equal(t, []string{"a", "c", "d"}, f.Levels[3])
	var rows [][]float64
	for yes := range 2 {
		for kind := range 3 {
			rows = append(rows, []float64{nan, float64(yes), nan, float64(kind)})
		}
	}
	s, err := fitted.Score(t.Context(), f, table(gaps.Names, rows...), fitted.ImputeConfig{Seed: 1})
	require.NoError(t, err)
	mass := 0.0
	for _, log := range s.LogDensity {
		mass += math.Exp(log)
	}
	require.InDelta(t, 1, mass, 0.03)

	r, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: 4000, Seed: 1})
	require.NoError(t, err)
	share := func(x []float64, v float64) float64 {
		n := len(x)
		return float64(n-len(slices.DeleteFunc(slices.Clone(x), func(u float64) bool { return u == v }))) / float64(n)
	}
	var drawn []float64
	for at := 3; at < len(r.Values); at += 4 {
		drawn = append(drawn, r.Values[at])
	}
	for place, code := range []float64{0, 2, 3} {
		require.InDelta(t, share(gaps.Column(3), code), share(drawn, float64(place)), 0.06)
	}
}
