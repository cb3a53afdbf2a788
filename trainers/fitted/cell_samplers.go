package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/trainers/fitted/diffusion"
	"missingscore/nets"
	"missingscore/trainers/source"
)

// sampler draws rows or missing cells; run has the type of its kind.
type sampler[T any] struct {
	name    string
	refuses func(*Model) error // why it does not support a model; nil if it does
	run     T
	chains  func(*Model) bool // of missing cells: whether it uses Markov chains with an R-hat; nil: never
}

func samplerByName[T any](all []sampler[T], what, name string) (s sampler[T], err error) {
	i := slices.IndexFunc(all, func(s sampler[T]) bool { return s.name == name })
	if i < 0 {
		return s, fmt.Errorf("unknown sampler %q for %s: use one of %s", name, what, strings.Join(samplerNames(all), ", "))
	}
	return all[i], nil
}

func samplerNames[T any](all []sampler[T]) []string {
	names := []string{"auto"}
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// cellDrawer makes a completer for one worker; the table is in the units of z.
type cellDrawer = func(*Model, *data.Table, ImputeConfig) (completer, error)

var cellSamplers = []sampler[cellDrawer]{
	{
		name: "exact", refuses: refusesExactCells, chains: func(f *Model) bool { return f.gaps().Bounded() },
		run: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			if f.mixed() != nil {
				return byComponents(f, z, c.Draws), nil
			}
			return bySource(f, z, c.Draws, source.Exact.New)
		},
	},
	{name: "mcmc", refuses: refusesCellChains, run: byChains, chains: func(*Model) bool { return true }},
	{
		name: "imputer", refuses: func(f *Model) error {
			if f.Imputer == nil {
				return errors.New("the model has no trained imputer: use auto")
			}
			return nil
		},
		run: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			return bySource(f, z, c.Draws, newLeastNoise(f))
		},
	},
	{name: "diffusion", refuses: refusesCellNoise, run: byLangevin},
	{
		name: "latent", refuses: func(f *Model) error {
			if !f.ordinal() {
				return errNotLatent
			}
			return nil
		},
		run: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) { return byLatent(f, z, c.Draws) },
	},
	{name: predictive, refuses: refusesPredictive, run: byParameters},
}

// Samplers are the values of ImputeConfig.Sampler.
var Samplers = samplerNames(cellSamplers)

// cellSamplerFor returns the sampler with this name. "auto" is the first of latent, exact,
// diffusion, mcmc that the model supports: far from the table's rows the density at the least noise
// level is not learnt, and chains go there. It fails if the model does not support the sampler.
func (f *Model) cellSamplerFor(name string) (sampler[cellDrawer], error) {
	if name == "auto" && f.Posterior != nil {
		name = predictive
	}
	if name == "auto" {
		for _, name = range []string{"latent", "exact", "diffusion", "mcmc"} {
			if s, err := samplerByName(cellSamplers, "missing cells", name); err != nil || s.refuses(f) == nil {
				return s, err
			}
		}
	}
	s, err := samplerByName(cellSamplers, "missing cells", name)
	switch {
	case err != nil:
		return s, err
	case f.Posterior != nil && s.name != predictive:
		return s, errPredictive
	case f.ordinal() && s.name != "latent":
		return s, errLatent
	case f.mixed() != nil && s.name != "exact":
		return s, errLevels
	}
	return s, s.refuses(f)
}

var errScoreAlone = errors.New("the model has a score but no log density and no noise levels, so it cannot be drawn from: fit it with Spec.Objective.Kind denoising of kind exploding or preserving")

func (f *Model) regressed() bool { return f.Missingness != nil && f.Missingness.Logistic != nil }

func refusesExactCells(f *Model) error {
	_, gaussian := model.AsNormal(f.Model)
	switch {
	case f.mixed() != nil:
		return nil
	case !gaussian:
		return errors.New("the exact conditional exists for Gaussian models only: use mcmc")
	case f.regressed():
		return errors.New("cells are missing not at random by a logistic regression, so their conditional is not normal: use mcmc")
	}
	return nil
}

func refusesCellChains(f *Model) error {
	scoreOnly, err := f.scoreOnly()
	switch {
	case err != nil:
		return err
	case scoreOnly && f.noiseConditional() == nil:
		return errScoreAlone
	case scoreOnly:
		return errors.New("the model gives a score but no log density, which Monte Carlo needs: use diffusion")
	}
	return nil
}

func refusesCellNoise(f *Model) error {
	scoreOnly, err := f.scoreOnly()
	switch {
	case err != nil:
		return err
	case f.regressed():
		return errors.New("diffusion does not support cells missing not at random: use mcmc")
	case scoreOnly && f.noiseConditional() == nil:
		return errScoreAlone
	case f.noiseConditional() == nil:
		return errors.New("the model was not fitted at several noise levels: use mcmc")
	case f.Domain.Bounded():
		return errors.New("noise moves rows out of the domain: use mcmc")
	}
	return nil
}

type completer func(ctx context.Context, rows []int, rng *source.Stream) (block, error)

func bySource(f *Model, z *data.Table, draws int, from func(source.Setting) (source.Source, error)) (completer, error) {
	gaps, err := from(source.Setting{Model: f.Model, Table: z, Imputer: f.Imputer, Batch: blockRows, Draws: draws, Domain: f.gaps()})
	batch := data.NewBatch(blockRows, z.D)
	x, log := make([]float64, blockRows*draws*z.D), make([]float64, blockRows*draws)
	return func(_ context.Context, rows []int, rng *source.Stream) (block, error) {
		batch.Fill(z, rows, 1)
		if err := gaps.Complete(batch, x, log, rng); err != nil {
			return block{}, err
		}
		done := block{rows: rows, mask: batch.Mask[:len(rows)*z.D], x: x[:len(rows)*draws*z.D]}
		if chained, ok := gaps.(source.Chained); ok {
			var err error
			if done.rhat, err = chained.RHat(batch, rng); err != nil {
				return block{}, err
			}
			done.size = slices.Repeat([]float64{math.Inf(1)}, len(rows))
		}
		return done, nil
	}, err
}

func byLangevin(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	s, err := diffusion.New(f.noiseConditional(), *f.Noise, blockRows*c.Draws)
	if err != nil {
		return nil, err
	}
	batch := data.NewBatch(blockRows, z.D)
	x, mask := make([]float64, blockRows*c.Draws*z.D), make([]float64, blockRows*c.Draws*z.D)
	return func(ctx context.Context, rows []int, rng *source.Stream) (block, error) {
		batch.Fill(z, rows, 1)
		source.Repeat(batch, c.Draws, x)
		for i := range blockRows {
			copy(mask[i*c.Draws*z.D:], slices.Repeat(batch.Mask[i*z.D:(i+1)*z.D], c.Draws))
		}
		y, err := s.Complete(ctx, x, mask, c.Steps, rng.Rand)
		if err != nil {
			return block{}, err
		}
		return block{rows: rows, mask: batch.Mask[:len(rows)*z.D], x: y[:len(rows)*c.Draws*z.D]}, nil
	}, nil
}

// A row z at the least noise level is a z + σ ε.
type leastNoise struct {
	source.Source
	signal, sigma float64
}

func newLeastNoise(f *Model) func(source.Setting) (source.Source, error) {
	return func(s source.Setting) (source.Source, error) {
		draws, err := source.Imputer.New(s)
		if normal, ok := f.Imputer.(nets.NormalConditional); err != nil || !ok || !normal.NoiseConditional() {
			return draws, err
		}
		signal, sigma := f.Noise.At(0)
		return leastNoise{draws, signal, sigma}, nil
	}
}

func (l leastNoise) Complete(b *data.Batch, x, logProposal []float64, rng *source.Stream) error {
	b.Signal, b.Noise = slices.Repeat([]float64{l.signal}, b.Size), slices.Repeat([]float64{l.sigma}, b.Size)
	for i := range b.X {
		b.X[i] *= l.signal
	}
	err := l.Source.Complete(b, x, logProposal, rng)
	for i := range x {
		x[i] /= l.signal
	}
	return err
}
