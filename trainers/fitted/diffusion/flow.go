package diffusion

import (
	"context"
	"errors"
	"math/rand/v2"
)

// Flow draws rows (n, d) by the equation without noise that has the same densities at
// every time (Song et al. 2021, equation 13),
//
//	dx/dt = f x − ½ g² s(x; a, σ)
//
// by Heun's steps, whose error falls with the square of their length. All that is
// random is the start, and what it gets wrong is forgotten as √(v/σ²) only: for
// exploding noise the most noise should be large beside the columns' means.
func (c *Sampler) Flow(ctx context.Context, o Options, rng *rand.Rand) ([]float64, error) {
	if o.Corrections != 0 {
		return nil, errors.New("the probability flow has no noise to correct: leave the corrections out")
	}
	o, err := o.withDefaults(c.steps(100), 0)
	if err != nil {
		return nil, err
	}
	x := c.start(1, rng)
	first, middle, second := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	slope := func(into, x []float64, t float64) error {
		a, sigma := c.schedule.At(t)
		f, square := c.schedule.Rates(t)
		s, err := c.at(x, a, sigma)
		for i := range s {
			into[i] = f*x[i] - 0.5*square*s[i]
		}
		return err
	}
	err = c.back(ctx, o.Steps, func(from, to float64) error {
		dt := to - from
		if err := slope(first, x, from); err != nil {
			return err
		}
		for i := range x {
			middle[i] = x[i] + dt*first[i]
		}
		if err := slope(second, middle, to); err != nil {
			return err
		}
		for i := range x {
			x[i] += 0.5 * dt * (first[i] + second[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.finish(x, o.Denoise)
}
