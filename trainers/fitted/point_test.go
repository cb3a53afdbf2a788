package fitted_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/trainers/fitted"
)

// By gonum.
func TestPointNormal(t *testing.T) {
	f, normal := scaledNormal(t)
	rows := [][]float64{{12, nan, nan}, {11, 6, 12}, {nan, 8, 3}, {nan, nan, nan}, {10, 9, nan}}
	r, err := fitted.Point(context.Background(), f, table(f.Names, rows...), fitted.ImputeConfig{})
	require.NoError(t, err)
	require.Equal(t, "closed form", r.Sampler)
	for i, row := range rows {
		gaps, observed, values := split(row)
		for k, j := range observed {
			require.Equal(t, values[k], r.Values[i*3+j])
		}
		if len(gaps) == 0 {
			continue
		}
		want := given(t, normal, row).Mean(nil)
		for a, j := range gaps {
			require.InDelta(t, want[a], r.Values[i*3+j], 1e-9)
		}
	}
	require.Zero(t, floats.Norm(r.Error, 1))
}

func TestPointByDraws(t *testing.T) {
	f := bumpy(t)
	for _, row := range [][]float64{{3, 5, nan}, {nan, 6, nan}} {
		r, err := fitted.Point(context.Background(), f, table(f.Names, row), fitted.ImputeConfig{Seed: 3})
		require.NoError(t, err)
		require.Equal(t, fitted.PointDraws, r.Draws)
		mean, _, _ := onGrid(t, f, row)
		gaps, _, _ := split(row)
		for a, j := range gaps {
			require.InDelta(t, mean[a], r.Values[j], 4.5*r.Error[j])
		}
	}
}

func TestPointRefuses(t *testing.T) {
	f, _ := scaledNormal(t)
	_, err := fitted.Point(context.Background(), f, table([]string{"a"}, []float64{1}), fitted.ImputeConfig{})
	require.ErrorContains(t, err, "the model has 3 columns, but the table has 1")
	_, err = fitted.Point(context.Background(), f, table(f.Names), fitted.ImputeConfig{Sampler: "diffusion"})
	require.ErrorContains(t, err, "use mcmc")
}
