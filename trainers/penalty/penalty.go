// Package penalty provides penalties on couplings for fits of parameters.
package penalty

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/internal/trainers/optim"
)

// Penalty is a function Ω of the couplings m_jk of a model.Coupled. The fit minimises
//
//	ℓ(θ) + λ Σ_{j<k} Ω(m_jk)
//
// (docs/theory/penalties.md#fits).
type Penalty struct {
	Name string // Config.Kind
	Note string // short description
	// Ω of a coupling.
	Value func(x float64) float64
	// Shrink is the proximal map of tΩ, argmin_y ½(y − x)² + tΩ(y), for 0 ≤ t ≤ +Inf; 0 at +Inf.
	Shrink func(x, t float64) float64
	// Largest returns the first λ of a path: slope is the largest gradient by a coupling where all are
	// 0, size the mean diagonal there.
	Largest func(slope, size float64) float64
	Ratio   float64 // largest λ / smallest λ of a path
}

// nearlyZero is the largest coupling relative to the mean diagonal at the start of a ridge path.
const nearlyZero = 0.02

// All lists the penalties.
var All = []Penalty{
	{Name: "l1", Note: "weak couplings become 0", Ratio: 200,
		Value: math.Abs, Shrink: optim.SoftThreshold, Largest: func(slope, _ float64) float64 { return slope }},
	{Name: "ridge", Note: "all couplings become smaller", Ratio: 2000,
		Value:   func(x float64) float64 { return x * x / 2 },
		Shrink:  func(x, t float64) float64 { return x/(1+t) + 0 }, // not −0
		Largest: func(slope, size float64) float64 { return slope / (nearlyZero * size) }},
}

// None is the Kind of a fit without a penalty.
const None = "none"

// Names returns None and the names of All.
func Names() []string {
	names := []string{None}
	for _, p := range All {
		names = append(names, p.Name)
	}
	return names
}

// ByName returns the penalty with a name.
func ByName(name string) (Penalty, error) {
	for _, p := range All {
		if p.Name == name {
			return p, nil
		}
	}
	return Penalty{}, setting.Errorf("penalty", name, "it is one of %s%s", strings.Join(Names(), ", "), spelling.DidYouMean(name, Names()))
}

// Config selects the penalty and λ. Zero values mean the defaults below.
type Config struct {
	Kind    string  `json:"kind,omitempty"`    // a name of All; "" or none: no penalty
	Lambda  float64 `json:"lambda,omitempty"`  // in the units of the fit; 0: by cross-validation
	Folds   int     `json:"folds,omitempty"`   // of the cross-validation; 5
	Lambdas int     `json:"lambdas,omitempty"` // number of λ, equally spaced on a log scale from Largest to Largest/Ratio; 15
}

const (
	defaultFolds   = 5
	defaultLambdas = 15
)

// Asked reports whether there is a penalty.
func (c Config) Asked() bool { return c.Kind != "" && c.Kind != None }

// Validates reports whether λ is chosen by cross-validation.
func (c Config) Validates() bool { return c.Asked() && c.Lambda == 0 }

// Resolve fills in the defaults for the number of rows and checks the rest.
func (c Config) Resolve(rows int) (Config, error) {
	if !c.Asked() {
		return Config{}, nil
	}
	if _, err := ByName(c.Kind); err != nil {
		return c, err
	}
	if !(c.Lambda >= 0) || math.IsInf(c.Lambda, 0) {
		return c, setting.Errorf("lambda", c.Lambda, lambdaMust)
	}
	if !c.Validates() {
		return c, nil
	}
	setting.Default(&c.Folds, defaultFolds)
	setting.Default(&c.Lambdas, defaultLambdas)
	switch {
	case c.Folds < 2 || 2*c.Folds > rows:
		return c, setting.Errorf("lambda", c.text(), "use at least 2 folds and at most half of the %d rows", rows)
	case c.Lambdas < 2:
		return c, setting.Errorf("lambdas", c.Lambdas, "it must be 2 or more")
	}
	return c, nil
}

const lambdaMust = "it must be a positive number, cv or cv=FOLDS"

func (c Config) text() string {
	switch {
	case c.Lambda != 0:
		return strconv.FormatFloat(c.Lambda, 'g', -1, 64)
	case c.Folds != 0:
		return fmt.Sprintf("cv=%d", c.Folds)
	}
	return "cv"
}

// ParseLambda sets λ from a number, cv or cv=FOLDS.
func (c *Config) ParseLambda(text string) error {
	wrong := setting.Errorf("lambda", text, lambdaMust)
	folds, has := strings.CutPrefix(text, "cv=")
	var err error
	switch {
	case text == "cv":
	case has:
		if c.Folds, err = strconv.Atoi(folds); err != nil || c.Folds < 2 {
			return wrong
		}
	default:
		if c.Lambda, err = strconv.ParseFloat(text, 64); err != nil || !(c.Lambda > 0) || math.IsInf(c.Lambda, 0) {
			return wrong
		}
	}
	return nil
}

// Path returns c.Lambdas values in descending order, equally spaced on a log scale.
func (c Config) Path(largest, ratio float64) []float64 {
	lambdas := make([]float64, c.Lambdas)
	for l := range lambdas {
		lambdas[l] = largest * math.Pow(ratio, -float64(l)/float64(c.Lambdas-1))
	}
	return lambdas
}

// Outcome is the penalty of a completed fit.
type Outcome struct {
	Kind     string   `json:"kind"`
	Lambda   float64  `json:"lambda"`          // in the units of the fit
	Coupled  int      `json:"coupled"`         // couplings that are not 0
	Pairs    int      `json:"pairs"`           // all couplings
	Folds    int      `json:"folds,omitempty"` // of the cross-validation; 0: λ was given
	Curve    []Point  `json:"curve,omitempty"` // held-out loss by λ in descending order, if finite
	Warnings []string `json:"-"`
}

// Point is a point of a cross-validation curve.
type Point struct {
	Lambda float64 `json:"lambda"`
	Loss   float64 `json:"loss"` // held-out, mean over all rows
	SE     float64 `json:"se"`   // standard error of Loss, from the means of the folds
}

// String describes the penalty, as "penalty l1, λ 0.02 by 5-fold cross-validation over 15 values: 9
// of 45 couplings are not 0".
func (o *Outcome) String() string {
	how := ""
	if o.Folds > 0 {
		how = fmt.Sprintf(" by %d-fold cross-validation over %d values", o.Folds, len(o.Curve))
	}
	return fmt.Sprintf("penalty %s, λ %.4g%s: %d of %d couplings are not 0", o.Kind, o.Lambda, how, o.Coupled, o.Pairs)
}
