package inference

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"missingscore/internal/setting"
)

type Config struct {
	Kind      string  `json:"kind"`                // "none", "auto" or a name of Kinds; "" means none
	Resamples int     `json:"resamples,omitempty"` // for kinds that resample
	Level     float64 `json:"level"`               // of confidence intervals; 0.95
	Stability int     `json:"stability,omitempty"` // subsamples for the correlation-stability coefficients, with any Kind; 0: none
}

// Auto gives robust intervals if they are cheap and have nominal coverage, else none;
// trainers.Prepare resolves it.
const (
	None = "none"
	Auto = "auto"
)

const DefaultLevel = 0.95

// Parse reads none, auto, or a kind, with a number if it resamples: bootstrap=500.
func Parse(text string) (Config, error) {
	name, value, numbered := strings.Cut(text, "=")
	if (name == None || name == Auto) && !numbered {
		return Config{Kind: name}, nil
	}
	kind, known := Kinds[name]
	if !known {
		return Config{}, setting.Errorf("inference", text, "it is auto, none, %s", strings.Join(forms(), ", "))
	}
	c := Config{Kind: name}
	if kind.Resamples != numbered {
		return Config{}, setting.Errorf("inference", text, "write %s", kind.form(name))
	}
	if numbered {
		var err error
		if c.Resamples, err = strconv.Atoi(value); err != nil || c.Resamples < 2 {
			return Config{}, setting.Errorf("inference", text, "the number of resamples must be 2 or more, for example %s=500", name)
		}
	}
	return c, nil
}

func forms() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(Kinds)) {
		out = append(out, Kinds[name].form(name))
	}
	return out
}

// Beginnings returns the accepted values of Parse without numbers.
func Beginnings() []string {
	all := []string{Auto, None}
	for _, name := range slices.Sorted(maps.Keys(Kinds)) {
		if Kinds[name].Resamples {
			name += "="
		}
		all = append(all, name)
	}
	return all
}

func (c Config) Asked() bool { return c.Kind != "" && c.Kind != None && c.Kind != Auto }

// LeastStability is one subsample for each dropped share.
const LeastStability = 10

func (c Config) Resolve() (Config, error) {
	setting.Default(&c.Kind, None)
	setting.Default(&c.Level, DefaultLevel)
	if !(c.Level > 0 && c.Level < 1) {
		return c, setting.Errorf("level", c.Level, "the level of confidence intervals must be between 0 and 1")
	}
	if c.Stability != 0 && c.Stability < LeastStability {
		return c, setting.Errorf("stability", c.Stability, "the number of subsamples must be %d or more, for example 1000", LeastStability)
	}
	if !c.Asked() {
		return c, nil
	}
	kind, known := Kinds[c.Kind]
	switch {
	case !known:
		return c, setting.Errorf("inference", c.Kind, "it is auto, none, %s", strings.Join(forms(), ", "))
	case kind.Resamples && c.Resamples < 2:
		return c, setting.Errorf("inference", c.Kind, "the number of resamples must be 2 or more, for example %s=500", c.Kind)
	}
	return c, nil
}
