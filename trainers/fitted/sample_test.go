package fitted_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/trainers/fitted"
)

func TestSampleNormal(t *testing.T) {
	f, normal := scaledNormal(t)
	for method, n := range map[string]int{"auto": 2000, "hmc": 1000} {
		r, err := fitted.Sample(context.Background(), f, fitted.SampleConfig{Sampler: method, N: n, Seed: 7})
		require.NoError(t, err)
		require.Len(t, r.Values, 3*n)
		if method == "auto" {
			require.Equal(t, "exact", r.Sampler)
		}
		require.Equal(t, r.Sampler == "exact", r.Chains == nil)
		require.True(t, r.Converged())
		requireNormal(t, normal, mat.NewDense(n, 3, r.Values), []int{0, 1, 2})
	}
}

// z ~ N(1/2, 1/4), x = 5 + 3z.
func TestSampleAlongNoise(t *testing.T) {
	const n = 700
	for _, c := range []struct {
		method, becomes string
		f               *fitted.Model
		steps           int
	}{
		{"auto", "sde", noiseConditional(false), 300},
		{"langevin", "langevin", noiseConditional(false), 40},
		{"hmc", "hmc", noiseConditional(true), 0},
	} {
		r, err := fitted.Sample(context.Background(), c.f, fitted.SampleConfig{Sampler: c.method, N: n, Steps: c.steps})
		require.NoError(t, err)
		require.Equal(t, c.becomes, r.Sampler)
		require.Len(t, r.Values, 2*n)
		require.InDelta(t, 6.5, stat.Mean(r.Values, nil), 1.5*(4.5/math.Sqrt(2*n)+0.01), c.method)
		require.InEpsilon(t, 1.5, stat.StdDev(r.Values, nil), 4.5/math.Sqrt(2*2*n)+0.04, c.method) // 40 × 40 steps leave 8 % of variance
	}
}

func TestSampleRefuses(t *testing.T) {
	normal, _ := scaledNormal(t)
	quartic := &fitted.Model{Names: []string{"a", "b"}, Model: model.NewQuartic(2), Scale: data.Scale{Mean: []float64{0, 0}, Deviation: []float64{1, 1}}}
	single := noiseConditional(false)
	single.Noise = &noise.Schedule{Kind: noise.Fixed, Least: 0.1}
	bounded := noiseConditional(false)
	bounded.Domain = domain.All(2)
	bounded.Domain.Lower[0] = 0
	for _, c := range []struct {
		f       *fitted.Model
		method  string
		message string
	}{
		{quartic, "exact", "use hmc"},
		{quartic, "sde", "not fitted at several noise levels"},
		{normal, "moon", "one of auto, exact, hmc, langevin, sde"},
		{noiseConditional(false), "hmc", "no log density"},
		{single, "sde", "one noise level"},
		{bounded, "langevin", "out of the domain"},
	} {
		_, err := fitted.Sample(context.Background(), c.f, fitted.SampleConfig{Sampler: c.method})
		require.ErrorContains(t, err, c.message)
	}
	_, err := fitted.Sample(context.Background(), normal, fitted.SampleConfig{N: -1})
	require.ErrorContains(t, err, "a positive number is needed")
	one, err := fitted.Sample(context.Background(), normal, fitted.SampleConfig{N: 1})
	require.NoError(t, err)
	require.Len(t, one.Values, 3)
}
