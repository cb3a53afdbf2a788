// Package penalty has the functions that fits of parameters may add to their loss, to shrink
// what ties columns together: a file each.
package penalty

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
)

// Penalty is a function of the couplings m_jk of a model.Coupled that a fit minimises along,
//
//	ℓ(θ) + λ Σ_{j<k} Ω(m_jk)
//
// (docs/theory/penalties.md#fits). What is on the matrix's diagonal, and every other parameter,
// is left alone. A new one is a type with these methods and a line in All.
type Penalty interface {
	// Name is Config.Kind.
	Name() string
	// Note says in a word what it does.
	Note() string
	// Value is Ω of a coupling.
	Value(x float64) float64
	// Shrink is the proximal map of tΩ, argmin_y ½(y − x)² + tΩ(y), for t from 0 to +Inf, where
	// it is 0.
	Shrink(x, t float64) float64
	// Largest is the λ from which a path of λ comes down, in which the couplings are 0 or
	// nearly: slope is the loss's largest gradient by a coupling where all are 0, size the mean
	// of the matrix's diagonal there.
	Largest(slope, size float64) float64
	// Ratio is that of the largest λ of a path to the smallest.
	Ratio() float64
}

// All are all there are.
var All = []Penalty{L1{}, Ridge{}}

// None is the Kind of a fit without a penalty.
const None = "none"

// Names are those of All, and None.
func Names() []string {
	names := []string{None}
	for _, p := range All {
		names = append(names, p.Name())
	}
	return names
}

// Forms are the names with a word of each.
func Forms() string {
	forms := []string{None}
	for _, p := range All {
		forms = append(forms, fmt.Sprintf("%s (%s)", p.Name(), p.Note()))
	}
	return strings.Join(forms, ", ")
}

// ByName looks a penalty up.
func ByName(name string) (Penalty, error) {
	for _, p := range All {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, setting.Errorf("penalty", name, "it is one of %s%s", strings.Join(Names(), ", "), spelling.DidYouMean(name, Names()))
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

// text is λ as ParseLambda reads it.
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
