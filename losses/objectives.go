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

// ObjectiveMaker makes an objective from options (a JSON object, nothing for the
// defaults) on a domain (nil for all of R^d) with weight g.
type ObjectiveMaker func(options []byte, s *domain.Domain, w domain.Weight) (Objective, error)

// Objectives are the objectives by name. A new one is a line here, or an assignment
// in the init function of the package that has it.
var Objectives = map[string]ObjectiveMaker{
	"classical": func(text []byte, s *domain.Domain, _ domain.Weight) (Objective, error) {
		if s.Bounded() {
			return nil, errors.New("it is for data on all of R^d; take truncated or sliced on a support")
		}
		return Classical{}, strictjson.Options(text, &struct{}{})
	},
	"truncated": func(text []byte, s *domain.Domain, w domain.Weight) (Objective, error) {
		if !s.Bounded() {
			return nil, errors.New("it needs a support that ends somewhere")
		}
		return Truncated{s, w}, strictjson.Options(text, &struct{}{})
	},
	"sliced": func(text []byte, s *domain.Domain, w domain.Weight) (Objective, error) {
		var o Sliced
		if err := strictjson.Options(text, &o); err != nil {
			return nil, err
		}
		o, err := o.WithDefaults()
		o.Domain, o.Weight = s, w
		return o, err
	},
	"denoising": func(text []byte, s *domain.Domain, _ domain.Weight) (Objective, error) {
		if s.Bounded() {
			return nil, errors.New("noise takes rows out of the support: it is for data on all of R^d")
		}
		var o Denoising
		if err := strictjson.Options(text, &o); err != nil {
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
func NewObjective(name string, options []byte, s *domain.Domain, w domain.Weight) (Objective, error) {
	if name == "auto" {
		name = AutoObjective(s)
	}
	make, ok := Objectives[name]
	if !ok {
		return nil, fmt.Errorf("there is no objective %q; objectives are %s", name, strings.Join(slices.Sorted(maps.Keys(Objectives)), ", "))
	}
	o, err := make(options, s, w)
	if err != nil {
		return nil, fmt.Errorf("objective %s: %w", name, err)
	}
	return o, nil
}
