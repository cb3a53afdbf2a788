package domain

import "slices"

// Cone says whether scaling columns leaves s as it is: all its bounds are 0, and its
// half-spaces, of which scaling changes the coefficients, are none.
func (s *Domain) Cone() bool {
	if s == nil {
		return true
	}
	bound := func(v float64) bool { return v != 0 && v-v == 0 } // finite and not 0
	return len(s.Half) == 0 && s.Gaps == nil && !slices.ContainsFunc(s.Lower, bound) && !slices.ContainsFunc(s.Upper, bound)
}
