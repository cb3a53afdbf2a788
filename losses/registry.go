package losses

import (
	"errors"
	"fmt"

	"missingscore/data/domain"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

// Losses are the losses by name.
var Losses = byName[Loss](marginal{}, complete{}, completeData{}, gaussianMarginal{}, gaussianComplete{}, gaussianPairwise{}, gaussianLatent{}, direct{})

// Weightings are the weightings by name.
var Weightings = byName[Weighting](uniform{}, leaveOneOut{}, selfNormalised{})

func byName[T interface{ Name() string }](all ...T) map[string]T {
	m := map[string]T{}
	for _, v := range all {
		m[v.Name()] = v
	}
	return m
}

// WeightingByName returns a weighting of Weightings.
func WeightingByName(name string) (Weighting, error) {
	return spelling.Find("weighting", name, Weightings)
}

// Objectives are the objectives by name.
var Objectives = map[string]ObjectiveMaker{
	"classical": func(s ObjectiveSetting) (Objective, error) {
		if s.Domain.Bounded() {
			return nil, errors.New("it is for data on all of R^d; take truncated or sliced on a support")
		}
		return classical{}, strictjson.Options(s.Options, &struct{}{})
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
			return nil, errors.New("noise moves rows out of the support: it is for data on all of R^d")
		}
		var o Denoising
		if err := strictjson.Options(s.Options, &o); err != nil {
			return nil, err
		}
		return o.WithDefaults()
	},
}

// AutoObjective returns the default objective: truncated on a domain with a boundary, else
// classical.
func AutoObjective(s *domain.Domain) string {
	if s.Bounded() {
		return "truncated"
	}
	return "classical"
}

// NewObjective makes an objective of Objectives; "auto" selects AutoObjective.
func NewObjective(name string, s ObjectiveSetting) (Objective, error) {
	if name == "auto" {
		name = AutoObjective(s.Domain)
	}
	make, err := spelling.Find("objective", name, Objectives)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("objective %s: %w", name, err)
	}
	o, err := make(s)
	if err != nil {
		return nil, fmt.Errorf("objective %s: %w", name, strictjson.Plainly(err))
	}
	return o, nil
}
