package diffusion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/data/noise"
)

// Langevin draws rows (n, d) by annealed Langevin dynamics: at each level, from the most
// noise to the least, Corrections steps
//
//	x ← x + ½δ s(x; a, σ) + √δ z,   δ = Rate σ²
//
// (Song & Ermon 2019, algorithm 1, α_i = ε σ_i²/σ_L² with ε = Rate σ_L²), and x·a'/a on the
// way to the next. A step's own error adds at most Rate/4 of the noise's variance.
// What is missing is mixing: steps are as long as the noise, so columns of
// variance v stop following the levels where σ² is about 4v ln(σ_1/σ_L) over
// Corrections·Rate·Steps, and keep about that much variance too much; by default 1.4 % for σ
// from 10 to 0.01.
func (c *Sampler) Langevin(ctx context.Context, o Options, rng *rand.Rand) ([]float64, error) {
	return c.anneal(ctx, nil, nil, o, rng)
}

// Complete draws the missing cells of rows x (n, d) with mask (n, d), 1 = observed, by
// Langevin, the observed ones set to a x + σ ε with new noise before each step (Song &
// Ermon 2019, algorithm 2). What it draws at a level is near q(x_mis(t) | x_obs(t) = a x_obs),
// not q(x_mis(t) | x_obs): with variances Σ a normal's conditional mean has the slope
// Σ_mo(Σ_oo + σ²I)⁻¹ there. The error that stays is that of the level at which Langevin
// stops following, and vanishes with it: about σ²/Σ_oo of the slope. A model with
// a log density is better drawn from by mcmc.HMC with Level.
func (c *Sampler) Complete(ctx context.Context, x, mask []float64, o Options, rng *rand.Rand) ([]float64, error) {
	if len(x) != c.n*c.d || len(mask) != len(x) {
		return nil, fmt.Errorf("%d cells and %d marks do not fit %d rows of %d columns", len(x), len(mask), c.n, c.d)
	}
	return c.anneal(ctx, x, mask, o, rng)
}

// anneal goes down the levels of noise; the cells that mask marks stay near known, a nil
// mask marks none.
func (c *Sampler) anneal(ctx context.Context, known, mask []float64, o Options, rng *rand.Rand) ([]float64, error) {
	ladder, o, err := c.ladder(o)
	if err != nil {
		return nil, err
	}
	observed := knownCells{known, mask}
	x := c.start(ladder.Time(o.Steps-1), rng)
	before := 0.0
	for k := o.Steps - 1; k >= 0; k-- {
		a, sigma := ladder.At(ladder.Time(k))
		if before > 0 {
			for i := range x {
				x[i] *= a / before
			}
		}
		before = a
		for range o.Corrections {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			observed.noisy(x, a, sigma, rng)
			if err := c.correct(x, a, sigma, o.Rate, rng); err != nil {
				return nil, err
			}
		}
	}
	a, _ := ladder.At(0)
	observed.noisy(x, a, 0, rng)
	if x, err = c.finish(x, o.Denoise); err != nil {
		return nil, err
	}
	observed.exact(x)
	return x, nil
}

// ladder gives the levels of noise that Langevin dynamics goes down, and the options with
// their defaults.
func (c *Sampler) ladder(o Options) (noise.Schedule, Options, error) {
	levels := 100
	if c.schedule.Single() {
		levels = 1
	} else if c.schedule.Levels > 0 {
		levels = c.schedule.Levels
	}
	o, err := o.withDefaults(levels, 100)
	if err != nil {
		return noise.Schedule{}, o, err
	}
	if c.schedule.Levels > 0 && o.Steps != levels {
		return noise.Schedule{}, o, c.asked(o.Steps, levels)
	}
	if o.Steps == 1 && !c.schedule.Single() {
		return noise.Schedule{}, o, errors.New("one step would start and stay at the least noise: at least 2 are needed")
	}
	return noise.Schedule{Kind: c.schedule.Kind, Least: c.schedule.Least, Most: c.schedule.Most, Levels: o.Steps}, o, nil
}

// knownCells are the observed cells of rows without noise, those where mask is not 0.
type knownCells struct{ x, mask []float64 }

// noisy sets the observed cells of x to a x + σ ε.
func (c knownCells) noisy(x []float64, a, sigma float64, rng *rand.Rand) {
	for i, m := range c.mask {
		if m != 0 {
			x[i] = a*c.x[i] + sigma*rng.NormFloat64()
		}
	}
}

// exact sets the observed cells of x to what they are.
func (c knownCells) exact(x []float64) {
	for i, m := range c.mask {
		if m != 0 {
			x[i] = c.x[i]
		}
	}
}

// correct is a Langevin step of all rows.
func (c *Sampler) correct(x []float64, a, sigma, rate float64, rng *rand.Rand) error {
	s, err := c.at(x, a, sigma)
	if err != nil {
		return err
	}
	step := rate * sigma * sigma
	for i := range x {
		x[i] += 0.5*step*s[i] + math.Sqrt(step)*rng.NormFloat64()
	}
	return nil
}
