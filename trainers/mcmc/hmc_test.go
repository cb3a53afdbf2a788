package mcmc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

const chains = 2000

// One dimension, all of R and truncated: moments of exp(θ x⁴) by quadrature.
func TestQuarticMoments(t *testing.T) {
	q := model.NewQuartic(1)
	require.NoError(t, q.SetTheta(mat.NewSymDense(1, []float64{-0.7})))
	bounded := domain.All(1)
	bounded.Lower[0] = 0.4
	for name, c := range map[string]struct {
		support   *domain.Domain
		low, high float64
		steps     int
		draws     int
	}{"all": {nil, -4, 4, 12, 0}, "truncated": {bounded, 0.4, 4, 3, 0}, "MALA": {nil, -4, 4, 1, 500}} {
		t.Run(name, func(t *testing.T) {
			integral := func(power int) float64 {
				return quad.Fixed(func(x float64) float64 { return math.Pow(x, float64(power)) * math.Exp(-0.7*x*x*x*x) }, c.low, c.high, 200, nil, 0)
			}
			rng := stream.New(1, 1)
			start := make([]float64, chains)
			for i := range start {
				start[i] = 0.5 + 0.5*rng.Float64()
			}
			r, err := mcmc.HMC(context.Background(), q, c.support, start, mcmc.Options{Leapfrog: c.steps, Draws: c.draws}, rng)
			require.NoError(t, err)
			want, mixed := 0.8, 1.05
			if c.steps == 1 {
				want, mixed = 0.57, 1.2 // a random walk, with longer memory
			}
			require.InDelta(t, want, r.Accept, 0.1)
			require.Less(t, r.WorstRHat(), mixed)
			require.Greater(t, r.LeastSize(), float64(chains))
			for power := 1; power <= 4; power++ {
				want := integral(power) / integral(0)
				se := math.Sqrt((integral(2*power)/integral(0) - want*want) / chains)
				sum := 0.0
				for _, x := range r.Last {
					require.True(t, c.support.Contains([]float64{x}))
					sum += math.Pow(x, float64(power)) / chains
				}
				require.InDelta(t, want, sum, 4.5*se, "moment %d", power)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	m := model.NewGaussian(1, model.CholeskyFactor)
	s := domain.All(1)
	s.Lower[0] = 0
	ctx := context.Background()
	_, err := mcmc.HMC(ctx, m, s, []float64{1, 2, -1, 1}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "chain 3 starts outside")
	_, err = mcmc.HMC(ctx, m, nil, []float64{1, 2}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "at least 4 chains")
	_, err = mcmc.HMC(ctx, m, nil, make([]float64, 4), mcmc.Options{Draws: 3}, stream.New(1))
	require.ErrorContains(t, err, "at least 8 draws")
	_, err = mcmc.HMC(ctx, m, nil, []float64{1, 2, math.Inf(1), 1}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "log density")
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err = mcmc.HMC(ctx, m, nil, make([]float64, 4), mcmc.Options{}, stream.New(1))
	require.ErrorIs(t, err, context.Canceled)
}
