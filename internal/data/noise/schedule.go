// Package noise has schedules of noise x(t) = a(t) x + σ(t) ε with ε ~ N(0, I).
package noise

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

// Kind of schedule. Times are from 0 (least noise) to 1 (most).
type Kind string

const (
	// Fixed is one level: a = 1, σ = Least (Vincent 2011).
	Fixed Kind = "fixed"
	// Exploding is variance-exploding: a = 1, σ = Least (Most/Least)^t (Song et al. 2021).
	Exploding Kind = "exploding"
	// Preserving is variance-preserving: a² + σ² = 1 with a = exp(−½∫β), β rising linearly from
	// Least to Most (Ho et al. 2020), from time 0.001, where σ is not yet 0.
	Preserving Kind = "preserving"
)

// Schedule defines a(t), σ(t) and the times t in use. Lengths have the units of the rows.
type Schedule struct {
	Kind   Kind    `json:"kind"`
	Least  float64 `json:"least"`  // fixed: σ, 0.1; exploding: least σ, 0.01; preserving: β at 0, 0.1
	Most   float64 `json:"most"`   // exploding: most σ, 10; preserving: β at 1, 20
	Levels int     `json:"levels"` // number of equally spaced t; 0 is continuous t
}

func (s Schedule) WithDefaults() (Schedule, error) {
	setting.Default(&s.Kind, Exploding)
	byDefault, ok := map[Kind]Schedule{Fixed: {Least: 0.1}, Exploding: {Least: 0.01, Most: 10}, Preserving: {Least: 0.1, Most: 20}}[s.Kind]
	if !ok {
		return s, spelling.Unknown("noise schedule", string(s.Kind), []string{string(Fixed), string(Exploding), string(Preserving)})
	}
	setting.Default(&s.Least, byDefault.Least)
	setting.Default(&s.Most, byDefault.Most)
	switch {
	case !(s.Least > 0) || math.IsInf(s.Least, 0):
		return s, fmt.Errorf("least noise %v: it must be positive", s.Least)
	case s.Kind == Fixed && (s.Most != 0 || s.Levels > 1):
		return s, errors.New("a fixed schedule has one level: leave most and levels out")
	case s.Kind != Fixed && !(s.Most > s.Least) || math.IsInf(s.Most, 0):
		return s, fmt.Errorf("most noise %v: it must be above the least, %v", s.Most, s.Least)
	case s.Levels < 0 || s.Kind != Fixed && s.Levels == 1:
		return s, fmt.Errorf("%d levels: use at least 2, or 0 for continuous times; one level is kind fixed", s.Levels)
	}
	return s, nil
}

// UnmarshalJSON refuses unknown fields and fills in the defaults.
func (s *Schedule) UnmarshalJSON(text []byte) error {
	type plain Schedule
	var p plain
	if err := strictjson.Options(text, &p); err != nil {
		return err
	}
	var err error
	*s, err = Schedule(p).WithDefaults()
	return err
}

func (s Schedule) Single() bool { return s.Kind == Fixed }

// At is a(t) and σ(t).
func (s Schedule) At(t float64) (signal, noise float64) {
	switch s.Kind {
	case Fixed:
		return 1, s.Least
	case Exploding:
		return 1, s.Least * math.Pow(s.Most/s.Least, t)
	}
	t = first + (1-first)*t
	integral := s.Least*t + 0.5*(s.Most-s.Least)*t*t
	return math.Exp(-0.5 * integral), math.Sqrt(-math.Expm1(-integral))
}

// Rates returns f = d log a/dt and g² = dσ²/dt − 2fσ² of the SDE dx = f x dt + g dW (Song et al.
// 2021); not for Fixed.
func (s Schedule) Rates(t float64) (f, square float64) {
	if s.Kind == Exploding {
		_, sigma := s.At(t)
		return 0, 2 * sigma * sigma * math.Log(s.Most/s.Least)
	}
	beta := (s.Least + (s.Most-s.Least)*(first+(1-first)*t)) * (1 - first)
	return -0.5 * beta, beta
}

const first = 1e-3 // first time of preserving schedules

func (s Schedule) Time(k int) float64 {
	if s.Levels < 2 {
		return 0
	}
	return float64(k) / float64(s.Levels-1)
}

// Draw returns a and σ at a random t, uniform.
func (s Schedule) Draw(rng *rand.Rand) (signal, noise float64) {
	switch {
	case s.Single():
		return s.At(0)
	case s.Levels > 0:
		return s.At(s.Time(rng.IntN(s.Levels)))
	}
	return s.At(rng.Float64())
}
