// Package domain describes the support of truncated data: R^d, boxes, half-spaces and their
// intersections; the feasible range of a row's missing cells; and the weight g of truncated score matching.
package domain

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Domain is the set of x with Lower ≤ x ≤ Upper and Aᵀx ≤ B for each half-space, in the units of
// the columns. Bounds may be infinite; the boundary belongs to the set. A nil *Domain is R^d.
type Domain struct {
	Lower, Upper []float64 // (d)
	Half         []HalfSpace
	Gaps         *Domain // a box for missing cells if their bounds differ (Censoring); else nil
}

const (
	smallest = 1e-150
	largest  = 1e150
)

// HalfSpace is the set of x with Aᵀx ≤ B.
type HalfSpace struct {
	A []float64 // (d)
	B float64
}

// All returns R^d.
func All(d int) *Domain {
	s := &Domain{Lower: make([]float64, d), Upper: make([]float64, d)}
	for j := range d {
		s.Lower[j], s.Upper[j] = math.Inf(-1), math.Inf(1)
	}
	return s
}

// Check returns what is wrong with the domain for columns named names, or nil.
func (s *Domain) Check(names []string) error {
	if s == nil {
		return nil
	}
	d := len(names)
	if len(s.Lower) != d || len(s.Upper) != d {
		return fmt.Errorf("a domain of %d and %d bounds does not fit %d columns", len(s.Lower), len(s.Upper), d)
	}
	for j, name := range names {
		if !(s.Lower[j] < s.Upper[j]) || math.IsInf(s.Lower[j], 1) || math.IsInf(s.Upper[j], -1) {
			return fmt.Errorf("column %q: its lower bound %g must be less than its upper bound %g", name, s.Lower[j], s.Upper[j])
		}
		for _, bound := range []float64{s.Lower[j], s.Upper[j]} {
			if math.Abs(bound) > largest && !math.IsInf(bound, 0) {
				return fmt.Errorf("column %q: its bound %g is beyond %g: leave it out, or rescale the column", name, bound, largest)
			}
		}
	}
	if b := s.Gaps; b != nil { // each row shows whether its missing cells have room
		for j, name := range names {
			if !(b.Lower[j] < b.Upper[j]) {
				return fmt.Errorf("column %q: its missing cells would lie between %g and %g, an empty range", name, b.Lower[j], b.Upper[j])
			}
		}
		return nil
	}
	for _, h := range s.Half {
		if err := h.check(d); err != nil {
			return err
		}
	}
	if len(s.Half) > 0 {
		none := make([]float64, d)
		if _, ok := s.Interior(none, none); !ok {
			return fmt.Errorf("the bounds and half-spaces leave no room")
		}
	}
	return nil
}

func (h HalfSpace) check(d int) error {
	if len(h.A) != d {
		return fmt.Errorf("a half-space of %d coefficients does not fit %d columns", len(h.A), d)
	}
	if size := floats.Norm(h.A, 2); !(size > 0) || math.IsInf(size, 0) || math.IsNaN(h.B) || math.IsInf(h.B, 0) {
		return fmt.Errorf("a half-space needs finite numbers and at least one coefficient that is not zero")
	}
	for _, v := range append([]float64{h.B}, h.A...) {
		if v != 0 && !(math.Abs(v) >= smallest && math.Abs(v) <= largest) {
			return fmt.Errorf("a half-space has the number %g: sizes must be from %g to %g; rescale the columns", v, smallest, largest)
		}
	}
	return nil
}

// Bounded reports whether s is smaller than R^d.
func (s *Domain) Bounded() bool { return s != nil && (len(s.Half) > 0 || s.Box()) }

// Box reports whether a column has a finite bound.
func (s *Domain) Box() bool {
	for j := range s.Lower {
		if s.BoundedColumn(j) {
			return true
		}
	}
	return false
}

// BoundedColumn reports whether column j has a finite bound.
func (s *Domain) BoundedColumn(j int) bool {
	low, high := s.GapBounds()
	return !math.IsInf(s.Lower[j], -1) || !math.IsInf(s.Upper[j], 1) || !math.IsInf(low[j], -1) || !math.IsInf(high[j], 1)
}

// Concerns reports whether column j has a bound or a coefficient in a half-space.
func (s *Domain) Concerns(j int) bool {
	return s.BoundedColumn(j) || slices.ContainsFunc(s.Half, func(h HalfSpace) bool { return h.A[j] != 0 })
}

// Contains reports whether a complete observed row lies in s.
func (s *Domain) Contains(x []float64) bool {
	if s == nil {
		return true
	}
	for j, v := range x {
		if !(s.Lower[j] <= v && v <= s.Upper[j]) {
			return false
		}
	}
	for _, h := range s.Half {
		if !(floats.Dot(h.A, x) <= h.B) {
			return false
		}
	}
	return true
}

// Outside returns why a row with observed cells x (mask 1) cannot be completed inside s, or nil.
// cell is the faulty column, −1 for a half-space.
func (s *Domain) Outside(names []string, x, mask []float64) (cell int, why error) {
	if s == nil {
		return -1, nil
	}
	for j, v := range x {
		switch {
		case mask[j] == 0:
		case v < s.Lower[j]:
			return j, fmt.Errorf("is below the lower bound %g%s", s.Lower[j], s.ofObserved(j))
		case v > s.Upper[j]:
			return j, fmt.Errorf("is above the upper bound %g%s", s.Upper[j], s.ofObserved(j))
		}
	}
	cuts := 0
	for _, h := range s.Half {
		low, size, cut := s.reach(h, x, mask)
		if low > h.B+1e-12*(size+math.Abs(h.B)) {
			if !cut {
				return -1, fmt.Errorf("aᵀx = %g is above the half-space's bound %g", low, h.B)
			}
			return -1, fmt.Errorf("aᵀx is at least %g for any missing cells, above the half-space's bound %g", low, h.B)
		}
		if cut {
			cuts++
		}
	}
	if cuts > 1 { // each half-space is feasible; check all together
		if _, ok := s.Interior(x, mask); !ok {
			return -1, fmt.Errorf("its missing cells cannot meet all half-spaces at once")
		}
	}
	return -1, nil
}

// reach returns the minimum of aᵀx over missing cells in the box, its size, and whether any a ≠ 0.
func (s *Domain) reach(h HalfSpace, x, mask []float64) (low, size float64, cut bool) {
	lower, upper := s.GapBounds()
	for j, a := range h.A {
		switch {
		case a == 0:
		case mask[j] != 0:
			low += a * x[j]
			size += math.Abs(a * x[j])
		default:
			cut = true
			low += math.Min(a*lower[j], a*upper[j])
		}
	}
	return low, size, cut
}

// Intersect returns the intersection of two domains.
func (s *Domain) Intersect(o *Domain) *Domain {
	if !s.Bounded() {
		return o
	}
	if !o.Bounded() {
		return s
	}
	both := All(len(s.Lower))
	for j := range both.Lower {
		both.Lower[j], both.Upper[j] = max(s.Lower[j], o.Lower[j]), min(s.Upper[j], o.Upper[j])
	}
	both.Half = slices.Concat(s.Half, o.Half)
	if s.Gaps != nil || o.Gaps != nil {
		both.Gaps = s.gapBox().Intersect(o.gapBox())
	}
	return both
}

// Standardised returns s for columns z_j = (x_j − mean_j)/deviation_j.
func (s *Domain) Standardised(mean, deviation []float64) *Domain {
	if s == nil {
		return nil
	}
	z := All(len(mean))
	for j := range mean {
		z.Lower[j] = (s.Lower[j] - mean[j]) / deviation[j]
		z.Upper[j] = (s.Upper[j] - mean[j]) / deviation[j]
	}
	for _, h := range s.Half {
		scaled := HalfSpace{A: make([]float64, len(mean)), B: h.B - floats.Dot(h.A, mean)}
		for j, a := range h.A {
			scaled.A[j] = a * deviation[j]
		}
		z.Half = append(z.Half, scaled)
	}
	z.Gaps = s.Gaps.Standardised(mean, deviation)
	return z
}

// Censoring returns s for a table in which exactly the cells below Below_j or above Above_j are
// missing; infinite thresholds are none. Check rejects a column with both.
func (s *Domain) Censoring(below, above []float64) *Domain {
	if s == nil {
		s = All(len(below))
	}
	low, high := s.GapBounds()
	c := All(len(below))
	c.Half, c.Gaps = s.Half, All(len(below))
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

// Censored reports whether missing cells have bounds of their own.
func (s *Domain) Censored() bool { return s != nil && s.Gaps != nil }

// GapBounds returns the bounds (d) of missing cells.
func (s *Domain) GapBounds() (lower, upper []float64) {
	if s.Gaps != nil {
		return s.Gaps.Lower, s.Gaps.Upper
	}
	return s.Lower, s.Upper
}

func (s *Domain) gapBox() *Domain {
	lower, upper := s.GapBounds()
	return &Domain{Lower: lower, Upper: upper}
}

func (s *Domain) ofObserved(j int) string {
	if low, high := s.GapBounds(); low[j] != s.Lower[j] || high[j] != s.Upper[j] {
		return " of observed cells (others are censored)"
	}
	return ""
}

// Cone reports whether scaling columns maps s to itself: bounds of 0, no half-spaces.
func (s *Domain) Cone() bool {
	if s == nil {
		return true
	}
	bound := func(v float64) bool { return v != 0 && v-v == 0 } // finite and not 0
	return len(s.Half) == 0 && s.Gaps == nil && !slices.ContainsFunc(s.Lower, bound) && !slices.ContainsFunc(s.Upper, bound)
}
