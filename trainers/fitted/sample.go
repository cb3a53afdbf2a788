package fitted

import (
	"context"
	"fmt"

	"missingscore/internal/setting"
	"missingscore/trainers/fitted/diffusion"
	"missingscore/trainers/mcmc"
)

// SampleConfig says how complete rows are drawn. Zero values mean the defaults named here.
type SampleConfig struct {
	// Sampler is how:
	//
	//	exact     independent draws of a Gaussian, by rejection on its domain; of a mixture
	//	hmc       Hamiltonian Monte Carlo from the density
	//	mala      the same with one leapfrog step, a Langevin step that may be rejected
	//	langevin  annealed Langevin steps along the levels of noise
	//	sde       the equation of the noise backwards in time
	//	ode       its probability flow
	//	auto      exact where it can be; for models of many levels of noise sde, of a ladder of
	//	          levels langevin; else hmc
	//
	// The last three before auto need a model that knows levels of noise, and no domain.
	Sampler string
	N       int // rows; 1000
	Seed    uint64

	Chains    mcmc.Options      // of hmc and mala: WarmUp, Draws (500 by default), Leapfrog
	Diffusion diffusion.Options // of langevin, sde and ode
}

// Rows are drawn ones.
type Rows struct {
	Sampler string
	Values  []float64    // (n, d) in the units of the table
	Chains  *mcmc.Result // of hmc and mala, else nil
}

// Converged says that no R-hat is above MaxRHat, where there is one.
func (r *Rows) Converged() bool { return r.Chains == nil || r.Chains.WorstRHat() <= MaxRHat }

// Sample draws complete rows from a model.
func Sample(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
	c, err := c.For(f)
	if err != nil {
		return nil, err
	}
	sampler, err := rowSamplerByName(c.Sampler)
	if err != nil {
		return nil, err
	}
	r, err := sampler.draw(ctx, f, c)
	if err != nil {
		return nil, err
	}
	r.Sampler = c.Sampler
	f.restore(r.Values)
	return r, f.checkDraws(r.Values)
}

// For is c with its defaults for a model; it fails where the model does not allow c.Sampler.
func (c SampleConfig) For(f *Model) (SampleConfig, error) {
	setting.Default(&c.Sampler, "auto")
	setting.Default(&c.N, 1000)
	if c.N < 0 {
		return c, fmt.Errorf("%d rows: a positive number is needed", c.N)
	}
	scoreOnly, err := f.scoreOnly()
	if err != nil {
		return c, err
	}
	if c.Sampler == "auto" {
		c.Sampler = f.autoRows(scoreOnly)
	}
	if scoreOnly && f.noiseConditional() == nil {
		return c, errScoreAlone
	}
	sampler, err := rowSamplerByName(c.Sampler)
	if err != nil {
		return c, err
	}
	return c, sampler.refuses(f)
}
