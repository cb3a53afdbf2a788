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
	c := Config{Kind: name}
	kind, known := Kinds[name]
	if known && kind.Resamples != numbered {
		return Config{}, setting.Errorf("inference", text, "write %s", kind.form(name))
	}
	if numbered {
		c.Resamples = 1 // check refuses it
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			c.Resamples = n
		}
	}
	return c, c.check(text)
}

// check fails if the kind is unknown, or resamples without a number.
func (c Config) check(text string) error {
	kind, known := Kinds[c.Kind]
	switch {
	case c.Resamples == 0 && (c.Kind == None || c.Kind == Auto):
	case !known:
		var forms []string
		for _, name := range slices.Sorted(maps.Keys(Kinds)) {
			forms = append(forms, Kinds[name].form(name))
		}
		return setting.Errorf("inference", text, "it is auto, none, %s", strings.Join(forms, ", "))
	case kind.Resamples && c.Resamples < 2:
		return setting.Errorf("inference", text, "the number of resamples must be 2 or more, for example %s=500", c.Kind)
	}
	return nil
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
	return c, c.check(c.Kind)
}
