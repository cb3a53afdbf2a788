package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"missingscore/internal/memory"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

// Models are the models by name. The command line offers each entry.
var Models = map[string]Maker{
	"gaussian":         plain(func(d int) Model { return NewGaussian(d, CholeskyFactor) }),
	"gaussian-network": plain(func(d int) Model { return NewGaussian(d, FreeSymmetric) }),
	"gaussian-natural": plain(func(d int) Model { return NewGaussian(d, Natural) }),
	"quartic":          plain(func(d int) Model { return NewQuartic(d) }),
	"mixture":          newMixture,
}

func plain(make func(d int) Model) Maker {
	return func(d int, text []byte, _ *rand.Rand) (Model, error) {
		if err := CheckSize(float64(d)*float64(d+1)/2, "a matrix of %d columns", d); err != nil {
			return nil, err
		}
		return make(d), strictjson.Options(text, &struct{}{})
	}
}

// CheckSize returns a *memory.Error if the parameters exceed the memory limit.
func CheckSize(numbers float64, what string, args ...any) error {
	return memory.Check(8*numbers, "take fewer columns or a smaller model", what, args...)
}

// New makes a model of Models.
func New(name string, d int, options []byte, rng *rand.Rand) (Model, error) {
	make, err := spelling.Find("model", name, Models)
	if err != nil {
		return nil, err
	}
	m, err := make(d, options, rng)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, strictjson.Plainly(err))
	}
	return m, nil
}

// Options returns the model's options as JSON, nil if it has none.
func Options(m Model) (json.RawMessage, error) {
	o, ok := m.(Configured)
	if !ok {
		return nil, nil
	}
	text, err := json.Marshal(o.Options())
	if err != nil {
		return nil, fmt.Errorf("the options of a model must be JSON: %w", err)
	}
	return text, nil
}
