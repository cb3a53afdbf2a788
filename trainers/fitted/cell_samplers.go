package fitted

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/trainers/source"
)

// cellSampler is a way to draw missing cells given the observed ones of their rows.
type cellSampler struct {
	name      string
	refuses   func(*Model) error                                         // why it cannot draw from a model; nil where it can
	completer func(*Model, *data.Table, ImputeConfig) (completer, error) // one worker's, for a table in the units of z
	chains    func(*Model) bool                                          // whether it draws by Markov chains, whose R-hat tells something; nil: never
}

// cellSamplers are all there are. A new one is a line here.
var cellSamplers = []cellSampler{
	{
		name: "exact", refuses: refusesExactCells, chains: func(f *Model) bool { return f.gaps().Bounded() },
		completer: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			return f.bySource(z, c.Draws, source.NewExact)
		},
	},
	{name: "mcmc", refuses: refusesCellChains, completer: (*Model).byChains, chains: func(*Model) bool { return true }},
	{
		name: "imputer", refuses: refusesImputer,
		completer: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
			return f.bySource(z, c.Draws, newLeastNoise(f))
		},
	},
	{name: "diffusion", refuses: refusesCellNoise, completer: (*Model).byLangevin},
	{
		name: "latent", refuses: refusesLatent,
		completer: func(f *Model, z *data.Table, c ImputeConfig) (completer, error) { return f.byLatent(z, c.Draws) },
	},
}

// Samplers are the values of ImputeConfig.Sampler.
var Samplers = func() (names []string) {
	names = []string{"auto"}
	for _, s := range cellSamplers {
		names = append(names, s.name)
	}
	return names
}()

// cellSamplerByName is one of cellSamplers.
func cellSamplerByName(name string) (cellSampler, error) {
	i := slices.IndexFunc(cellSamplers, func(s cellSampler) bool { return s.name == name })
	if i < 0 {
		return cellSampler{}, fmt.Errorf("cells cannot be imputed by %q; it is one of %s", name, strings.Join(Samplers, ", "))
	}
	return cellSamplers[i], nil
}

// cellSamplerFor is the sampler that a name is for a model, auto being the first of latent, exact,
// mcmc, diffusion that the model allows. It fails where it does not allow the sampler.
func (f *Model) cellSamplerFor(name string) (cellSampler, error) {
	if name == "auto" {
		for _, name = range []string{"latent", "exact", "mcmc", "diffusion"} {
			if s, err := cellSamplerByName(name); err != nil || s.refuses(f) == nil {
				return s, err
			}
		}
	}
	s, err := cellSamplerByName(name)
	switch {
	case err != nil:
		return s, err
	case f.ordinal() && s.name != "latent":
		return s, errLatent
	}
	return s, s.refuses(f)
}

// errScoreAlone is of a model that no sampler here can use.
var errScoreAlone = errors.New("the model is a score without a log density, not fitted along levels of noise, and cannot be drawn from: fit it with --objective denoising of kind exploding or preserving")

// regressed says that cells are missing not at random, by a known logistic regression.
func (f *Model) regressed() bool { return f.Missingness != nil && f.Missingness.Logistic != nil }

func refusesExactCells(f *Model) error {
	_, gaussian := model.AsNormal(f.Model)
	switch {
	case !gaussian:
		return errors.New("the exact conditional is known for Gaussian models, this is another: use mcmc")
	case f.regressed():
		return errors.New("cells are missing not at random by a logistic regression: given the observed ones they are not normal; use mcmc")
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

func refusesImputer(f *Model) error {
	if f.Imputer == nil {
		return errors.New("the model has no imputer (fits by var, variw, em-var and em-variw train one): use auto")
	}
	return nil
}

func refusesCellNoise(f *Model) error {
	scoreOnly, err := f.scoreOnly()
	switch {
	case err != nil:
		return err
	case f.regressed():
		return errors.New("cells are missing not at random, which draws along noise do not know: use mcmc")
	case scoreOnly && f.noiseConditional() == nil:
		return errScoreAlone
	case f.noiseConditional() == nil:
		return errors.New("the model was not fitted along levels of noise: use mcmc")
	case f.Domain.Bounded():
		return errors.New("noise takes rows out of the domain: use mcmc")
	}
	return nil
}

func refusesLatent(f *Model) error {
	if !f.ordinal() {
		return errNotLatent
	}
	return nil
}
