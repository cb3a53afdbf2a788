package nets

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

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

// AtLevels returns the options of a registered model for all levels of a noise schedule, with clean
// at the least level, and with masks as input if gaps. Options of models without a
// noise-conditional version stay.
func AtLevels(name string, text []byte, s noise.Schedule, gaps bool) ([]byte, error) {
	var o NetworkOptions
	if name != "energy" && name != "score-network" || strictjson.Options(text, &o) != nil {
		return text, nil // the Maker reports the error
	}
	o.Gaps = o.Gaps || name == "score-network" && !o.NoiseConditional && gaps
	if o.NoiseConditional = true; o.Clean == (Level{}) {
		o.Clean.Signal, o.Clean.Noise = s.At(0)
	}
	return json.Marshal(o)
}

// Imputers are the imputers by name. Add an imputer here, or in the init function of its package.
var Imputers = map[string]ImputerMaker{"normal": maker(NewNormalImputer), "mixture": maker(NewMixtureImputer), "linear": maker(NewLinearImputer)}

// NewImputer makes an imputer of Imputers.
func NewImputer(name string, d int, options []byte, rng *rand.Rand) (Imputer, error) {
	make, err := spelling.Find("imputer", name, Imputers)
	if err != nil {
		return nil, err
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
	if _, err := NewImputer(name, 1, options, stream.New(0)); err != nil {
		return nil, err
	}
	var o NormalOptions
	if err := strictjson.Options(options, &o); name != "normal" || err != nil {
		return nil, fmt.Errorf("imputer %s does not support noise levels: take imputer normal, or an objective without noise", name)
	}
	o.NoiseConditional = true
	return json.Marshal(o)
}
