package fitted_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/fitted"
)

// By gonum: to rounding in closed form, within the error as means of draws.
func TestPointNormal(t *testing.T) {
	f, normal := scaledNormal(t)
	rows := [][]float64{{12, nan, nan}, {11, 6, 12}, {nan, 8, 3}, {nan, nan, nan}, {10, 9, nan}}
	for by, tolerance := range map[string]float64{"auto": 1e-9, "mcmc": 4.5} {
		r, err := fitted.Point(context.Background(), f, table(f.Names, rows...), fitted.ImputeConfig{Sampler: by, Seed: 2})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"auto": "closed form", "mcmc": "mcmc"}[by], r.Sampler)
		for i, row := range rows {
			gaps, observed, values := split(row)
			for k, j := range observed {
				require.Equal(t, values[k], r.Values[i*3+j])
				require.Zero(t, r.Error[i*3+j])
			}
			if len(gaps) == 0 {
				continue
			}
			want := given(t, normal, row).Mean(nil)
			for a, j := range gaps {
				scale := 1.0
				if by == "mcmc" {
					scale = r.Error[i*3+j]
					require.InDelta(t, 0.05, scale, 0.2)
				}
				require.InDelta(t, want[a], r.Values[i*3+j], tolerance*scale, "%s, row %d, column %d", by, i, j)
			}
		}
	}
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
