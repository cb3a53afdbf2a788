// Package penalty has the functions that fits of parameters may add to their loss, to shrink
// what ties columns together.
package penalty

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/trainers/optim"
)

// Penalty is a function Ω of the couplings m_jk of a model.Coupled that a fit minimises along,
//
//	ℓ(θ) + λ Σ_{j<k} Ω(m_jk)
//
// (docs/theory/penalties.md#fits). The matrix's diagonal and every other parameter are left alone.
type Penalty struct {
	Name string // Config.Kind
	Note string // a word of what it does
	// Value is Ω of a coupling.
	Value func(x float64) float64
	// Shrink is the proximal map of tΩ, argmin_y ½(y − x)² + tΩ(y), for t from 0 to +Inf, where
	// it is 0.
	Shrink func(x, t float64) float64
	// Largest is the λ from which a path of λ comes down, in which the couplings are 0 or
	// nearly: slope is the loss's largest gradient by a coupling where all are 0, size the mean
	// of the matrix's diagonal there.
	Largest func(slope, size float64) float64
	Ratio   float64 // of the largest λ of a path to the smallest
}

// nearlyZero is the largest coupling beside the diagonal's mean where a path of ridge begins.
const nearlyZero = 0.02

// All are all there are.
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

// Names are those of All, and None.
func Names() []string {
	names := []string{None}
	for _, p := range All {
		names = append(names, p.Name)
	}
	return names
}

// ByName looks a penalty up.
func ByName(name string) (Penalty, error) {
	for _, p := range All {
		if p.Name == name {
			return p, nil
		}
	}
	return Penalty{}, setting.Errorf("penalty", name, "it is one of %s%s", strings.Join(Names(), ", "), spelling.DidYouMean(name, Names()))
}

// Config says which penalty a fit has, and how λ is found. Zero values mean the defaults named
// here.
type Config struct {
	Kind    string  `json:"kind,omitempty"`    // a name of All; "" or none: no penalty
	Lambda  float64 `json:"lambda,omitempty"`  // λ, in the units that the fit is made in; 0: by cross-validation
	Folds   int     `json:"folds,omitempty"`   // of the cross-validation; 5
	Lambdas int     `json:"lambdas,omitempty"` // that it compares, from Largest down by equal factors to Largest/Ratio; 15
}

const (
	defaultFolds   = 5
	defaultLambdas = 15
)

// Asked tells whether there is a penalty.
func (c Config) Asked() bool { return c.Kind != "" && c.Kind != None }

// Validates says that λ is found by cross-validation.
func (c Config) Validates() bool { return c.Asked() && c.Lambda == 0 }

// Resolve fills in the defaults for so many rows and checks the rest.
func (c Config) Resolve(rows int) (Config, error) {
	if !c.Asked() {
		if c.Lambda != 0 || c.Folds != 0 {
			return c, setting.Errorf("lambda", c.text(), "it is of a penalty, and there is none: name one (penalty), or leave it out")
		}
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
		return c, setting.Errorf("lambda", c.text(), "from 2 folds to one for each two of the %d rows are possible", rows)
	case c.Lambdas < 2:
		return c, setting.Errorf("lambdas", c.Lambdas, "it must be 2 or more")
	}
	return c, nil
}

const lambdaMust = "it is a positive number, cv or cv=FOLDS"

func (c Config) text() string {
	switch {
	case c.Lambda != 0:
		return strconv.FormatFloat(c.Lambda, 'g', -1, 64)
	case c.Folds != 0:
		return fmt.Sprintf("cv=%d", c.Folds)
	}
	return "cv"
}

// ParseLambda sets how λ is found: by a number, cv or cv=FOLDS.
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

// Path are so many λ by equal factors from the largest down.
func (c Config) Path(largest, ratio float64) []float64 {
	lambdas := make([]float64, c.Lambdas)
	for l := range lambdas {
		lambdas[l] = largest * math.Pow(ratio, -float64(l)/float64(c.Lambdas-1))
	}
	return lambdas
}

// Outcome is what the penalty of a fit has come to.
type Outcome struct {
	Kind     string   `json:"kind"`
	Lambda   float64  `json:"lambda"`          // that the fit is at, in the units that it was made in
	Coupled  int      `json:"coupled"`         // couplings that are not 0
	Pairs    int      `json:"pairs"`           // couplings
	Folds    int      `json:"folds,omitempty"` // of the cross-validation; 0: λ was given
	Curve    []Point  `json:"curve,omitempty"` // held-out loss by λ, the largest first, where it is finite
	Warnings []string `json:"-"`
}

// Point is one of a cross-validation's curve.
type Point struct {
	Lambda float64 `json:"lambda"`
	Loss   float64 `json:"loss"` // of rows held out, mean over all
	SE     float64 `json:"se"`   // standard error of Loss, from the folds' means
}

// String says it in a sentence, as "penalty l1 with λ 0.02 by 5-fold cross-validation (held-out loss -5.1): 9 of 45 couplings are not 0".
func (o *Outcome) String() string {
	how := ""
	if o.Folds > 0 {
		how = fmt.Sprintf(" by %d-fold cross-validation over %d values", o.Folds, len(o.Curve))
	}
	return fmt.Sprintf("penalty %s, λ %.4g%s: %d of %d couplings are not 0", o.Kind, o.Lambda, how, o.Coupled, o.Pairs)
}
