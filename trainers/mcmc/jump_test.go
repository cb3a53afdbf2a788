package mcmc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

// Chains that all start in one of two wells are in both with their right shares, by
// independent proposals that favour one of them.
func TestJumpsBetweenModes(t *testing.T) {
	slowtest.Skip(t, "5 s")
	m := wells{model.NewGaussian(2, model.CholeskyFactor)}
	start := make([]float64, 2*chains)
	for c := range chains {
		start[2*c+1] = 6
	}
	o := mcmc.Options{Travel: math.Pi / 2, Draws: 400, Scale: []float64{1.5, 5}}
	share := func() (share, square float64) {
		r, err := mcmc.HMC(context.Background(), m, nil, start, o, stream.New(6, 1))
		require.NoError(t, err)
		for c := range chains {
			y := r.Last[2*c+1]
			square += y * y / chains
			if y < 0 {
				share += 1. / chains
			}
		}
		return share, square
	}
	stuck, _ := share()
	require.Less(t, stuck, 0.1)
	o.Centre = []float64{0.5, 3}
	met, square := share()
	require.InDelta(t, 0.5, met, 4.5*0.5/math.Sqrt(chains))
	require.InDelta(t, 37, square, 4.5*math.Sqrt((4*36+2.)/chains)) // y² has variance 4·36 + 2 in either well
}
