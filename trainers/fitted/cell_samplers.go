package fitted

import (
	"cmp"
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
}

// needs returns an error with this text unless a model has something.
func needs(has func(*Model) bool, text string) func(*Model) error {
	err := errors.New(text)
	return func(f *Model) error {
		if has(f) {
			return nil
		}
		return err
	}
}

// only returns the one sampler of a model without a choice; else "".
func (f *Model) only() string {
	switch {
	case f.Posterior != nil:
		return predictive
	case f.mixed() != nil:
		return "exact"
	}
	return ""
}

// choose returns the sampler with this name; for auto the first of order that supports the model, or
// the refusal of the last. own is as of Model.only.
func choose[T any](f *Model, all []sampler[T], what, name, own string, order ...string) (s sampler[T], err error) {
	if name != "auto" && name != "" {
		order = []string{name}
	}
	for _, name := range order {
		i := slices.IndexFunc(all, func(s sampler[T]) bool { return s.name == name })
		if i < 0 {
			return s, fmt.Errorf("unknown sampler %q for %s: use one of %s", name, what, strings.Join(samplerNames(all), ", "))
		}
		s, err = all[i], fmt.Errorf("the model has one sampler: use the sampler %s or auto", own)
		if own == "" || own == s.name {
			err = s.refuses(f)
		}
		if err == nil {
			break
		}
	}
	return s, err
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
		name: "exact", refuses: refusesExactCells,
		run: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			if m := f.mixed(); m != nil {
				return byComponents(m, z, c.Draws), nil
			}
			return bySource(f, z, c.Draws, source.Exact.New, f.gaps().Bounded())
		},
	},
	{
		name: "mcmc", refuses: func(f *Model) error { return f.needsDensity("Monte Carlo", "use diffusion") },
		run: byChains,
	},
	{
		name:    "imputer",
		refuses: needs(func(f *Model) bool { return f.Imputer != nil }, "the model has no trained imputer: use auto"),
		run: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			return bySource(f, z, c.Draws, newLeastNoise(f), false)
		},
	},
	{
		name: "diffusion", refuses: func(f *Model) error {
			if f.regressed() {
				return errors.New("diffusion does not support cells missing not at random: use mcmc")
			}
			return f.needsNoise("mcmc")
		},
		run: byLangevin,
	},
	{
		name:    "latent",
		refuses: needs((*Model).ordinal, "latent needs a model of ordered categories (Spec.Transform=ordinal): use the sampler auto"),
		run:     func(f *Model, z *data.Table, c ImputeConfig) (completer, error) { return byLatent(f, z, c.Draws) },
	},
	{name: predictive, refuses: needsPosterior, run: byParameters},
}

// Samplers are the values of ImputeConfig.Sampler.
var Samplers = samplerNames(cellSamplers)

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

// needsDensity refuses models with a score only, for which advice names another way.
func (f *Model) needsDensity(what, advice string) error {
	scoreOnly, err := f.scoreOnly()
	switch {
	case err != nil:
		return err
	case scoreOnly && f.noiseConditional() == nil:
		advice = "fit it with Spec.Objective.Kind denoising (noise exploding, the default, or preserving)"
		if f.Domain.Bounded() { // noise would leave the bounds
			advice = "with bounds fit Spec.Model.Kind energy"
		}
		return fmt.Errorf("the model has a score but no log density and no noise levels, so it cannot draw, impute or score rows: %s", advice)
	case scoreOnly:
		return fmt.Errorf("the model gives a score but no log density, which %s needs: %s", what, advice)
	}
	return nil
}

func (f *Model) needsNoise(chains string) error {
	if f.noiseConditional() == nil {
		return cmp.Or(f.needsDensity("", ""), fmt.Errorf("the model was not fitted at several noise levels: use %s", chains))
	}
	if f.Domain.Bounded() {
		return fmt.Errorf("noise moves rows out of the domain: use %s", chains)
	}
	return nil
}

// bySource returns R-hats if chained, of a source.Chained.
func bySource(f *Model, z *data.Table, draws int, from func(source.Setting) (source.Source, error), chained bool) (completer, error) {
	gaps, err := from(source.Setting{Model: f.Model, Table: z, Imputer: f.Imputer, Batch: blockRows, Draws: draws, Domain: f.gaps()})
	batch, log := data.NewBatch(blockRows, z.D), make([]float64, blockRows*draws)
	return func(_ context.Context, b *block, rng *source.Stream) (err error) {
		batch.Fill(z, b.rows, 1)
		if err := gaps.Complete(batch, b.x[:cap(b.x)], log, rng); err != nil {
			return err
		}
		if chained {
			b.rhat, err = gaps.(source.Chained).RHat(batch, rng)
			b.size = slices.Repeat([]float64{math.Inf(1)}, len(b.rows))
		}
		return err
	}, err
}

func byLangevin(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	s, err := diffusion.New(f.noiseConditional(), *f.Noise, blockRows*c.Draws)
	return func(ctx context.Context, b *block, rng *source.Stream) error {
		x, err := s.Complete(ctx, b.x[:cap(b.x)], b.mask[:cap(b.mask)], c.Steps, rng.Rand)
		copy(b.x, x)
		return err
	}, err
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
