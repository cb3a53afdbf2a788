package diffusion

import (
	"context"
	"math"
	"math/rand/v2"
)

// Reverse draws rows (n, d) by the equation of the noise, dx = f x dt + g dW, run
// backwards in time (Anderson 1982; Song et al. 2021, equation 6),
//
//	dx = (f x − g² s(x; a, σ)) dt + g dW
//
// by Euler–Maruyama steps; with Corrections after each that many Langevin steps
// at the level reached, the predictor–corrector of Song et al. (algorithm 1, with steps of
// Rate σ² in place of a signal-to-noise ratio). Moments of a normal are right to about
// 1e-3 with 1000 steps, and what the start gets wrong is forgotten as (v/σ²) at the
// most noise.
func (c *Sampler) Reverse(ctx context.Context, o Options, rng *rand.Rand) ([]float64, error) {
	o, err := o.withDefaults(c.steps(1000), 0)
	if err != nil {
		return nil, err
	}
	x := c.start(1, rng)
	err = c.back(ctx, o.Steps, func(from, to float64) error {
		a, sigma := c.schedule.At(from)
		f, square := c.schedule.Rates(from)
		s, err := c.at(x, a, sigma)
		if err != nil {
			return err
		}
		dt := from - to
		for i := range x {
			x[i] += (square*s[i]-f*x[i])*dt + math.Sqrt(square*dt)*rng.NormFloat64()
		}
		a, sigma = c.schedule.At(to)
		for range o.Corrections {
			if err := c.correct(x, a, sigma, o.Rate, rng); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.finish(x, o.Denoise)
}
