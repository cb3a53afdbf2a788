package cmd

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
)

// simulations are the distributions that tables are drawn from, by name: draw makes the true
// model with its support, and its matrix where it has one.
var simulations = []struct {
	name string
	draw func(s *simulation, rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error)
}{
	{"normal", gaussian("box", func(s *simulation, rng *rand.Rand) (simulate.Gaussian, error) { return simulate.Normal(s.d, rng) })},
	{"star", gaussian("halfspace", func(s *simulation, rng *rand.Rand) (simulate.Gaussian, error) { return simulate.Star(s.d, rng) })},
	{"dense", gaussian("halfspace", func(s *simulation, rng *rand.Rand) (simulate.Gaussian, error) { return simulate.Dense(s.d, rng) })},
	{"stars", gaussian("halfspace", func(s *simulation, rng *rand.Rand) (simulate.Gaussian, error) {
		return simulate.Stars(s.d, s.centres, rng)
	})},
	{"quartic", (*simulation).quartic},
	{"moons", mixture(func(*simulation, *rand.Rand) simulate.Mixture { return simulate.Moons() })},
	{"ring", mixture(func(*simulation, *rand.Rand) simulate.Mixture { return simulate.Ring() })},
	{"curve", mixture(func(s *simulation, _ *rand.Rand) simulate.Mixture { return simulate.Curve(s.d) })},
	{"modes", mixture(func(s *simulation, rng *rand.Rand) simulate.Mixture { return simulate.Modes(s.d, s.centres, rng) })},
}

// simulationNames are those of simulations.
func simulationNames() (names []string) {
	for _, s := range simulations {
		names = append(names, s.name)
	}
	return names
}

// trueModel is the true model with its support, and its matrix.
func (s *simulation) trueModel(rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
	for _, of := range simulations {
		if of.name == s.kind {
			return of.draw(s, rng)
		}
	}
	return nil, nil, usageError{fmt.Errorf("there is no simulation %q; they are %s", s.kind, strings.Join(simulationNames(), ", "))}
}

// columns are the names of so many columns.
func (s *simulation) columns() []string {
	names := make([]string, s.d)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	return names
}

// gaussian draws from a normal distribution, truncated by a usual kind where --truncate names
// none.
func gaussian(usual string, draw func(*simulation, *rand.Rand) (simulate.Gaussian, error)) func(*simulation, *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
	return func(s *simulation, rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
		names := s.columns()
		cut, _, err := s.domain.read(names)
		if err != nil {
			return nil, nil, err
		}
		g, err := draw(s, rng)
		if err != nil {
			return nil, nil, err
		}
		support, err := s.truncated(g, usual)
		if err != nil {
			return nil, nil, err
		}
		m := model.NewGaussian(s.d, model.CholeskyFactor)
		if err := m.SetPrecision(g.Precision); err != nil {
			return nil, nil, err
		}
		m.SetMean(g.Mean)
		support = support.Intersect(cut)
		return &fitted.Saved{Kind: "gaussian", Model: m, Names: names, Domain: support}, g.Precision, support.Check(names)
	}
}

// quartic draws from the quartic model; its matrix is that of the coefficients.
func (s *simulation) quartic(rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
	names := s.columns()
	cut, _, err := s.domain.read(names)
	if err != nil {
		return nil, nil, err
	}
	if s.truncate != "" {
		return nil, nil, usageError{fmt.Errorf("--truncate %s: the quartic model's quantiles are not known; use --lower, --upper or --domain", s.truncate)}
	}
	theta, err := simulate.Quartic(s.d, rng)
	if err != nil {
		return nil, nil, err
	}
	q := model.NewQuartic(s.d)
	return &fitted.Saved{Kind: "quartic", Model: q, Names: names, Domain: cut}, theta, q.SetTheta(theta)
}

// mixture draws from a mixture, which has as many columns as it says.
func mixture(of func(*simulation, *rand.Rand) simulate.Mixture) func(*simulation, *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
	return func(s *simulation, rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
		if s.truncate != "" || s.domain.lower != nil || s.domain.upper != nil || s.domain.file != "" {
			return nil, nil, usageError{fmt.Errorf("%s is simulated on all of R^d: leave --truncate, --lower, --upper and --domain out", s.kind)}
		}
		truth := of(s, rng)
		s.d = len(truth.Means[0])
		m, err := model.NewMixture(truth)
		return &fitted.Saved{Kind: "mixture", Model: m, Names: s.columns()}, nil, err
	}
}

// truncated understands --truncate, whose kind is a usual one where it is a share alone; nil is
// no truncation.
func (s *simulation) truncated(g simulate.Gaussian, usual string) (*domain.Domain, error) {
	if s.truncate == "" {
		return nil, nil
	}
	kind, text, given := strings.Cut(s.truncate, "=")
	share := map[string]float64{"box": 0.1, "halfspace": 0.2}[kind]
	if _, err := strconv.ParseFloat(kind, 64); err == nil && !given {
		kind, text, given = usual, kind, true
	}
	if given {
		var err error
		if share, err = strconv.ParseFloat(text, 64); err != nil {
			share = -1
		}
	}
	if kind != "box" && kind != "halfspace" || !(share > 0 && share < 1) {
		return nil, usageError{fmt.Errorf("--truncate %s: box, box=SHARE, halfspace, halfspace=SHARE or a SHARE between 0 and 1 is expected", s.truncate)}
	}
	if kind == "box" {
		return g.TruncateBelow(3, share)
	}
	return g.TruncateAcross(share, stream.New(s.seed, stream.Simulate, 1))
}
