package harness

import (
	"encoding/json"
	"fmt"
	"slices"

	"missingscore/internal/strictjson"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Decode reads settings and refuses fields that v does not have.
func Decode(settings json.RawMessage, v any) error {
	if err := strictjson.Decode(settings, v, ""); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// CheckAtLeast refuses settings, each named as in the file, under least.
func CheckAtLeast(least int, key string, values ...int) error {
	for _, v := range values {
		if v < least {
			return fmt.Errorf("settings: %s: %d: at least %d is needed", key, v, least)
		}
	}
	return nil
}

// CheckShares refuses settings that are no share of something less than all of it.
func CheckShares(key string, values ...float64) error {
	for _, v := range values {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("settings: %s: %v: a share from 0 to less than 1 is needed", key, v)
		}
	}
	return nil
}

// CheckTraining refuses passes and rates that train nothing.
func CheckTraining(epochs int, rate float64) error {
	if !(rate > 0) {
		return fmt.Errorf("settings: rate: %v: it must be positive", rate)
	}
	return CheckAtLeast(1, "epochs", epochs)
}

// Variant is a method with its settings, under the name that it has in the results.
type Variant struct {
	Name string `json:"name"`
	engine.Config
}

// Variants reads {"name": …, "method": …, further settings} each, over what all have
// in common. What points to memory is each one's own.
func Variants(common engine.Config, methods []json.RawMessage) ([]Variant, error) {
	var out []Variant
	for _, text := range methods {
		v := Variant{Config: common}
		v.Imputer.Options = slices.Clone(common.Imputer.Options)
		if common.WarmUp != nil {
			v.WarmUp = new(*common.WarmUp)
		}
		if err := Decode(text, &v); err != nil {
			return nil, err
		}
		if _, err := estimator.ByName(v.Method); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		if v.Name == "" {
			v.Name = v.Method
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("settings: there are no methods")
	}
	return out, nil
}

// Names are the variants' names.
func Names(variants []Variant) (names []string) {
	for _, v := range variants {
		names = append(names, v.Name)
	}
	return names
}
