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

// rowSampler is a way to draw complete rows.
type rowSampler struct {
	name    string
	refuses func(*Model) error // why it cannot draw from a model; nil where it can
	draw    func(context.Context, *Model, SampleConfig) (*Rows, error)
}

// rowSamplers are all there are. A new one is a line here.
var rowSamplers = []rowSampler{
	{"exact", refusesExactRows, exactRows},
	{"hmc", refusesChains, func(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
		return rowsByChains(ctx, f, c, c.Chains)
	}},
	{"mala", refusesChains, func(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
		o := c.Chains
		o.Leapfrog = 1
		return rowsByChains(ctx, f, c, o)
	}},
	{"langevin", refusesNoise, alongNoise((*diffusion.Sampler).Langevin)},
	{"sde", refusesLevels, alongNoise((*diffusion.Sampler).Reverse)},
	{"ode", refusesLevels, alongNoise((*diffusion.Sampler).Flow)},
}

// RowSamplers are the values of SampleConfig.Sampler.
var RowSamplers = func() (names []string) {
	names = []string{"auto"}
	for _, s := range rowSamplers {
		names = append(names, s.name)
	}
	return names
}()

// rowSamplerByName is one of rowSamplers.
func rowSamplerByName(name string) (rowSampler, error) {
	i := slices.IndexFunc(rowSamplers, func(s rowSampler) bool { return s.name == name })
	if i < 0 {
		return rowSampler{}, fmt.Errorf("rows cannot be drawn by %q; it is one of %s", name, strings.Join(RowSamplers, ", "))
	}
	return rowSamplers[i], nil
}

// autoRows is the sampler of rows that auto is for a model: independent draws where there are
// any, along the noise of a model that was fitted along many levels or has no density, else
// Monte Carlo.
func (f *Model) autoRows(scoreOnly bool) string {
	noisy := f.noiseConditional() != nil
	switch {
	case refusesExactRows(f) == nil:
		return "exact"
	case noisy && !f.Noise.Single() && f.Noise.Levels == 0 && !f.Domain.Bounded():
		return "sde"
	case noisy && (scoreOnly || !f.Noise.Single() && !f.Domain.Bounded()):
		return "langevin"
	}
	return "hmc"
}

func refusesExactRows(f *Model) error {
	if exactly(f.Model, f.Domain) {
		return nil
	}
	return errors.New("independent draws are known for Gaussian models, and for mixtures on all of R^d; this is another: use hmc")
}

func refusesChains(f *Model) error {
	scoreOnly, err := f.scoreOnly()
	if scoreOnly {
		return errors.New("the model gives a score but no log density, which Monte Carlo needs: use langevin, sde or ode")
	}
	return err
}

func refusesNoise(f *Model) error {
	switch {
	case f.noiseConditional() == nil:
		return errors.New("the model was not fitted along levels of noise: use hmc")
	case f.Domain.Bounded():
		return errors.New("noise takes rows out of the domain: use hmc")
	}
	return nil
}

func refusesLevels(f *Model) error {
	if err := refusesNoise(f); err != nil {
		return err
	}
	if f.Noise.Single() {
		return errors.New("the model was fitted at one level of noise, there is no time to go back in: use langevin or hmc")
	}
	return nil
}

// exactRows are independent draws.
func exactRows(_ context.Context, f *Model, c SampleConfig) (*Rows, error) {
	values, err := model.SampleRows(f.Model, c.N, f.support(), stream.New(c.Seed, stream.Sample))
	return &Rows{Values: values}, err
}

// mostChains run at once; of more rows each chain gives several.
const mostChains = 1000

// rowsByChains draws by Markov chains from the density.
func rowsByChains(ctx context.Context, f *Model, c SampleConfig, o mcmc.Options) (*Rows, error) {
	chains := min(max(c.N, 4), mostChains)
	o.Keep = (c.N + chains - 1) / chains
	setting.Default(&o.Draws, max(500, 10*o.Keep))
	found, err := chainRows(ctx, f.density(), f.support(), chains, o, stream.New(c.Seed, stream.Sample))
	if err != nil {
		return nil, err
	}
	return &Rows{Chains: found, Values: found.Kept[:c.N*len(f.Names)]}, nil
}

// noiseRows are drawn at once along the levels of noise.
const noiseRows = 500

// alongNoise draws by a way along the levels of noise, in blocks, each from its own stream.
func alongNoise(by func(*diffusion.Sampler, context.Context, diffusion.Options, *rand.Rand) ([]float64, error)) func(context.Context, *Model, SampleConfig) (*Rows, error) {
	return func(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
		s, err := diffusion.New(f.noiseConditional(), *f.Noise, min(c.N, noiseRows))
		if err != nil {
			return nil, err
		}
		var values []float64
		for k := 0; len(values) < c.N*len(f.Names); k++ {
			x, err := by(s, ctx, c.Diffusion, stream.New(c.Seed, stream.Sample, uint64(k)))
			if err != nil {
				return nil, err
			}
			values = append(values, x...)
		}
		return &Rows{Values: slices.Clip(values[:c.N*len(f.Names)])}, nil
	}
}
