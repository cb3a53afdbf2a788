package fitted_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/fitted"
)

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
