package domain

import (
	"fmt"
	"math"
)

// Bounds are those of a box, (d) each.
type Bounds struct{ Lower, Upper []float64 }

// Censoring is s for a table whose cells below Below_j or above Above_j are missing, and
// no others of these columns; infinite thresholds are none. Observed cells then lie
// between the thresholds and missing ones beyond, so g vanishes at the threshold and
// imputed cells stay on its other side. Given the pattern the range of the missing
// cells is fixed, and the identities of score matching hold as in any box.
//
// Check refuses a column with both thresholds, whose missing cells would lie in two
// pieces, and a threshold outside s.
func (s *Domain) Censoring(below, above []float64) *Domain {
	if s == nil {
		s = All(len(below))
	}
	low, high := s.GapBounds()
	c := All(len(below))
	c.Half, c.Gaps = s.Half, All(len(below)).bounds()
	for j := range below {
		c.Lower[j], c.Upper[j] = max(s.Lower[j], below[j]), min(s.Upper[j], above[j])
		c.Gaps.Lower[j], c.Gaps.Upper[j] = low[j], high[j]
		if !math.IsInf(above[j], 1) {
			c.Gaps.Lower[j] = max(low[j], above[j])
		}
		if !math.IsInf(below[j], -1) {
			c.Gaps.Upper[j] = min(high[j], below[j])
		}
	}
	return c
}

// Censored says whether missing cells lie elsewhere than observed ones.
func (s *Domain) Censored() bool { return s != nil && s.Gaps != nil }

// GapBounds are the bounds (d) of missing cells.
func (s *Domain) GapBounds() (lower, upper []float64) {
	if s.Gaps != nil {
		return s.Gaps.Lower, s.Gaps.Upper
	}
	return s.Lower, s.Upper
}

// ofObserved says of a bound that it is not that of all cells.
func (s *Domain) ofObserved(j int) string {
	if low, high := s.GapBounds(); low[j] != s.Lower[j] || high[j] != s.Upper[j] {
		return " of observed cells (others are censored)"
	}
	return ""
}

func (s *Domain) bounds() *Bounds { return &Bounds{s.Lower, s.Upper} }

func (b *Bounds) check(names []string) error {
	if len(b.Lower) != len(names) || len(b.Upper) != len(names) {
		return fmt.Errorf("%d and %d bounds of missing cells do not fit %d columns", len(b.Lower), len(b.Upper), len(names))
	}
	for j, name := range names {
		if !(b.Lower[j] < b.Upper[j]) {
			return fmt.Errorf("column %q: its missing cells would lie between %g and %g, where there is no room", name, b.Lower[j], b.Upper[j])
		}
	}
	return nil
}
