package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"missingscore/internal/strictjson"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Decode reads JSON settings into v. It fails on fields that v does not have.
func Decode(settings json.RawMessage, v any) error {
	if err := strictjson.Decode(settings, v, ""); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// CheckAtLeast fails if a value of the setting key is below least.
func CheckAtLeast(least int, key string, values ...int) error {
	for _, v := range values {
		if v < least {
			return fmt.Errorf("settings: %s: %d: at least %d is needed", key, v, least)
		}
	}
	return nil
}

// Variant is a method with its settings and its name in the results.
type Variant struct {
	Name string `json:"name"`
	engine.Config
}

// Variants reads methods {"name": …, "method": …, further settings} over the common settings. The
// default name is the method. Variants share no memory.
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
		return nil, errors.New("settings: there are no methods")
	}
	return out, nil
}
