package fitted

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
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

// RowSamplers are the values of SampleConfig.Sampler.
var RowSamplers = []string{"auto", "exact", "hmc", "mala", "langevin", "sde", "ode"}

// Rows are drawn ones.
type Rows struct {
	Sampler string
	Values  []float64    // (n, d) in the units of the table
	Chains  *mcmc.Result // of hmc and mala, else nil
}

// Converged says that no R-hat is above MaxRHat, where there is one.
func (r *Rows) Converged() bool { return r.Chains == nil || r.Chains.WorstRHat() <= MaxRHat }

// mostChains run at once; of more rows each chain gives several.
const mostChains = 1000

// noiseRows are drawn at once along the levels of noise.
const noiseRows = 500

// Sample draws complete rows from a model.
func Sample(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
	c, err := c.For(f)
	if err != nil {
		return nil, err
	}
	r := &Rows{Sampler: c.Sampler}
	rng := stream.New(c.Seed, stream.Sample)
	switch c.Sampler {
	case "exact":
		if r.Values, err = model.SampleRows(f.Model, c.N, f.support(), rng); err != nil {
			return nil, err
		}
	case "hmc", "mala":
		o := c.Chains
		if c.Sampler == "mala" {
			o.Leapfrog = 1
		}
		chains := min(max(c.N, 4), mostChains)
		o.Keep = (c.N + chains - 1) / chains
		setting.Default(&o.Draws, max(500, 10*o.Keep))
		if r.Chains, err = chainRows(ctx, f.density(), f.support(), chains, o, rng); err != nil {
			return nil, err
		}
		r.Values = r.Chains.Kept[:c.N*len(f.Names)]
	default:
		if r.Values, err = f.alongNoise(ctx, c); err != nil {
			return nil, err
		}
	}
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
	exact := exactly(f.Model, f.Domain)
	scoreOnly, err := f.scoreOnly()
	if err != nil {
		return c, err
	}
	if c.Sampler == "auto" {
		switch {
		case exact:
			c.Sampler = "exact"
		case f.noiseConditional() != nil && !f.Noise.Single() && f.Noise.Levels == 0 && !f.Domain.Bounded():
			c.Sampler = "sde"
		case f.noiseConditional() != nil && (scoreOnly || !f.Noise.Single() && !f.Domain.Bounded()):
			c.Sampler = "langevin"
		default:
			c.Sampler = "hmc"
		}
	}
	if scoreOnly && f.noiseConditional() == nil {
		return c, errScoreAlone
	}
	switch c.Sampler {
	case "exact":
		if !exact {
			err = errors.New("independent draws are known for Gaussian models, and for mixtures on all of R^d; this is another: use hmc")
		}
	case "hmc", "mala":
		if scoreOnly {
			err = errors.New("the model gives a score but no log density, which Monte Carlo needs: use langevin, sde or ode")
		}
	case "langevin", "sde", "ode":
		switch {
		case f.noiseConditional() == nil:
			err = errors.New("the model was not fitted along levels of noise: use hmc")
		case f.Domain.Bounded():
			err = errors.New("noise takes rows out of the domain: use hmc")
		case f.Noise.Single() && c.Sampler != "langevin":
			err = errors.New("the model was fitted at one level of noise, there is no time to go back in: use langevin or hmc")
		}
	default:
		err = fmt.Errorf("rows cannot be drawn by %q; it is one of %s", c.Sampler, strings.Join(RowSamplers, ", "))
	}
	return c, err
}

// alongNoise draws in blocks, each from its own stream.
func (f *Model) alongNoise(ctx context.Context, c SampleConfig) ([]float64, error) {
	s, err := diffusion.New(f.noiseConditional(), *f.Noise, min(c.N, noiseRows))
	if err != nil {
		return nil, err
	}
	draw := map[string]func(context.Context, diffusion.Options, *rand.Rand) ([]float64, error){
		"langevin": s.Langevin, "sde": s.Reverse, "ode": s.Flow,
	}[c.Sampler]
	var values []float64
	for k := 0; len(values) < c.N*len(f.Names); k++ {
		x, err := draw(ctx, c.Diffusion, stream.New(c.Seed, stream.Sample, uint64(k)))
		if err != nil {
			return nil, err
		}
		values = append(values, x...)
	}
	return slices.Clip(values[:c.N*len(f.Names)]), nil
}
