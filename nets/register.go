package nets

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"missingscore/data/noise"
	"missingscore/graph/model"
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

// LevelLearner is a model or an imputer that can be made for all levels of noise.
type LevelLearner interface {
	// LevelOptions are what its Maker makes it from for that; clean is the level of data
	// as they are, unless the options say another.
	LevelOptions(clean Level) any
}

// AtLevels gives the options of a registered model that learns every level of a noise
// schedule, clean at the least one, from a table with missing cells (gaps) or without. Options of
// models that cannot learn them stay.
func AtLevels(name string, text []byte, s noise.Schedule, gaps bool) ([]byte, error) {
	m, err := model.New(name, 1, text, stream.New(0))
	if err != nil {
		return text, nil // whoever makes the model with them will say so
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

// Imputers are the imputers by name. A new one is a line here, or an assignment in the
// init function of the package that has it.
var Imputers = map[string]ImputerMaker{"normal": newNormal, "mixture": newMixture, "linear": newLinear, "flow": newFlow}

// NewImputer looks an imputer up in Imputers and makes it.
func NewImputer(name string, d int, options []byte, rng *rand.Rand) (Imputer, error) {
	make, ok := Imputers[name]
	if !ok {
		return nil, spelling.Unknown("imputer", name, slices.Sorted(maps.Keys(Imputers)))
	}
	m, err := make(d, options, rng)
	if err != nil {
		return nil, fmt.Errorf("imputer %s: %w", name, err)
	}
	return m, nil
}

// ImputerAtLevels gives the options of a registered imputer for rows at many levels of
// noise. It fails for one that cannot be told the level.
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
