package fitted_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/testtables"
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
		testtables.RequireNormal(t, normal, mat.NewDense(n, 3, r.Values), []int{0, 1, 2})
	}
}
