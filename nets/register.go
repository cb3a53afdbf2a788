package nets

import (
	"encoding/json"
	"math/rand/v2"

	"missingscore/data/noise"
	"missingscore/graph/model"
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
		if err := strictjson.Options(current(text), &o); err != nil {
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
// schedule, clean at the least one. Options of models that cannot learn them stay.
func AtLevels(name string, text []byte, s noise.Schedule) ([]byte, error) {
	m, err := model.New(name, 1, text, stream.New(0))
	if err != nil {
		return text, nil // whoever makes the model with them will say so
	}
	l, ok := m.(LevelLearner)
	if !ok {
		return text, nil
	}
	signal, sigma := s.At(0)
	return json.Marshal(l.LevelOptions(Level{signal, sigma}))
}
