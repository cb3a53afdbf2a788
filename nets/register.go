package nets

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/spelling"
	"missingscore/internal/stream"
	"missingscore/internal/strictjson"
)

func init() {
	model.Models["energy"] = network(NewEnergy)
	model.Models["score-network"] = network(NewScoreNetwork)
}

func network(make func(int, NetworkOptions, *rand.Rand) (model.Model, error)) model.Maker {
	return func(d int, text []byte, rng *rand.Rand) (model.Model, error) {
		var o NetworkOptions
		if err := strictjson.Options(text, &o); err != nil {
			return nil, err
		}
		return make(d, o, rng)
	}
}

// LevelLearner is a model or imputer that has a noise-conditional version.
type LevelLearner interface {
	// LevelOptions returns the options of the noise-conditional version; clean is the level of
	// Evaluate unless the options set one.
	LevelOptions(clean Level) any
}

// AtLevels returns the options of a registered model for all levels of a noise schedule, with clean
// at the least level, and with masks as input if gaps. Options of models without a
// noise-conditional version stay.
func AtLevels(name string, text []byte, s noise.Schedule, gaps bool) ([]byte, error) {
	m, err := model.New(name, 1, text, stream.New(0))
	if err != nil {
		return text, nil // the Maker reports the error
	}
	l, ok := m.(LevelLearner)
	if !ok {
		return text, nil
	}
	signal, sigma := s.At(0)
	options := l.LevelOptions(Level{signal, sigma})
	if o, ok := options.(NetworkOptions); ok {
		_, told := m.(*scoreNetwork)
		o.Gaps = o.Gaps || told && gaps
		options = o
	}
	return json.Marshal(options)
}

// Imputers are the imputers by name. Add an imputer here, or in the init function of its package.
var Imputers = map[string]ImputerMaker{"normal": newNormal, "mixture": newMixture, "linear": newLinear}

// NewImputer makes an imputer of Imputers.
func NewImputer(name string, d int, options []byte, rng *rand.Rand) (Imputer, error) {
	make, ok := Imputers[name]
	if !ok {
		return nil, spelling.Unknown("imputer", name, slices.Sorted(maps.Keys(Imputers)))
	}
	m, err := make(d, options, rng)
	if err != nil {
		return nil, fmt.Errorf("imputer %s: %w", name, strictjson.Plainly(err))
	}
	return m, nil
}

// ImputerAtLevels returns an imputer's options for rows at many noise levels; it fails if the
// imputer has no such version.
func ImputerAtLevels(name string, options []byte) ([]byte, error) {
	m, err := NewImputer(name, 1, options, stream.New(0))
	if err != nil {
		return nil, err
	}
	l, ok := m.(LevelLearner)
	if !ok {
		return nil, fmt.Errorf("imputer %s does not support noise levels: take imputer normal, or an objective without noise", name)
	}
	return json.Marshal(l.LevelOptions(Level{}))
}
