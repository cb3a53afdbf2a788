package nets

import (
	"encoding/json"
	"math/rand/v2"

	"missingscore/data/noise"
	"missingscore/graph/model"
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

// AtLevels gives the options of a registered network that learns every level of a
// noise schedule: levelled, and clean at the least one. Options of other models stay.
func AtLevels(model string, text []byte, s noise.Schedule) ([]byte, error) {
	if model != "energy" && model != "score-network" {
		return text, nil
	}
	var o NetworkOptions
	if err := strictjson.Options(text, &o); err != nil {
		return nil, err
	}
	o.Levelled = true
	if o.Clean == (Level{}) {
		o.Clean.Signal, o.Clean.Noise = s.At(0)
	}
	return json.Marshal(o)
}
