package data_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

func TestHideMCAR(t *testing.T) {
	g, err := simulate.Star(5, stream.New(1, 1))
	require.NoError(t, err)
	full, err := g.Sample(2000, stream.New(1, 2))
	require.NoError(t, err)
	hidden, err := data.HideMCAR(full, 0.3, stream.New(1, 3))
	require.NoError(t, err)
	require.InDelta(t, 0.3*10000, float64(hidden.Missing()), 4*math.Sqrt(10000*0.3*0.7))
	require.Zero(t, full.Missing(), "the table itself stays")
	for k, seen := range hidden.Observed {
		if seen {
			require.Equal(t, full.Values[k], hidden.Values[k])
		}
	}
	more, err := data.HideMCAR(hidden, 0.5, stream.New(1, 4))
	require.NoError(t, err)
	require.InDelta(t, 0.65*10000, float64(more.Missing()), 4*math.Sqrt(10000*0.65*0.35))
	for _, p := range []float64{-0.1, 1, math.NaN()} {
		_, err := data.HideMCAR(full, p, stream.New(1, 5))
		require.ErrorContains(t, err, "must be at least 0 and less than 1")
	}
}
