package losses

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"missingscore/data/domain"
	"missingscore/internal/strictjson"
)

// ObjectiveSetting is what an objective is made for.
type ObjectiveSetting struct {
	Dim     int            // d, the columns of the table
	Names   []string       // theirs, if known
	Options []byte         // a JSON object, nothing for the defaults
	Domain  *domain.Domain // nil for all of R^d
	Weight  domain.Weight  // g on it
}

func (s ObjectiveSetting) check() error {
	switch {
	case s.Dim < 1:
		return fmt.Errorf("a table of %d columns", s.Dim)
	case s.Names != nil && len(s.Names) != s.Dim:
		return fmt.Errorf("%d names for %d columns", len(s.Names), s.Dim)
	case s.Domain != nil && len(s.Domain.Lower) != s.Dim:
		return fmt.Errorf("a domain of %d columns for %d", len(s.Domain.Lower), s.Dim)
	}
	return nil
}

// ObjectiveMaker makes an objective.
type ObjectiveMaker func(s ObjectiveSetting) (Objective, error)

// Objectives are the objectives by name. A new one is a line here, or an assignment
// in the init function of the package that has it.
var Objectives = map[string]ObjectiveMaker{
	"classical": func(s ObjectiveSetting) (Objective, error) {
		if s.Domain.Bounded() {
			return nil, errors.New("it is for data on all of R^d; take truncated or sliced on a support")
		}
		return Classical{}, strictjson.Options(s.Options, &struct{}{})
	},
	"truncated": func(s ObjectiveSetting) (Objective, error) {
		if !s.Domain.Bounded() {
			return nil, errors.New("it needs a support that ends somewhere")
		}
		return Truncated{s.Domain, s.Weight}, strictjson.Options(s.Options, &struct{}{})
	},
	"sliced": func(s ObjectiveSetting) (Objective, error) {
		var o Sliced
		if err := strictjson.Options(s.Options, &o); err != nil {
			return nil, err
		}
		o, err := o.WithDefaults()
		o.Domain, o.Weight = s.Domain, s.Weight
		return o, err
	},
	"denoising": func(s ObjectiveSetting) (Objective, error) {
		if s.Domain.Bounded() {
			return nil, errors.New("noise takes rows out of the support: it is for data on all of R^d")
		}
		var o Denoising
		if err := strictjson.Options(s.Options, &o); err != nil {
			return nil, err
		}
		return o.WithDefaults()
	},
}

// AutoObjective names the default objective: truncated on a domain with a boundary, else
// classical.
func AutoObjective(s *domain.Domain) string {
	if s.Bounded() {
		return "truncated"
	}
	return "classical"
}

// NewObjective looks an objective up in Objectives, or AutoObjective for "auto", and
// makes it.
func NewObjective(name string, s ObjectiveSetting) (Objective, error) {
	if name == "auto" {
		name = AutoObjective(s.Domain)
	}
	make, ok := Objectives[name]
	if !ok {
		return nil, fmt.Errorf("there is no objective %q; objectives are %s", name, strings.Join(slices.Sorted(maps.Keys(Objectives)), ", "))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("objective %s: %w", name, err)
	}
	o, err := make(s)
	if err != nil {
		return nil, fmt.Errorf("objective %s: %w", name, err)
	}
	return o, nil
}
