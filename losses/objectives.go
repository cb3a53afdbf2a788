package losses

import (
	"fmt"

	"missingscore/data/domain"
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
