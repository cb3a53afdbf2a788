package domain

import "math"

// Section is the range of a row's missing cells given its observed cells: the box Lower, Upper, cut
// by half-spaces with their observed part moved to B. Slices have length d; only missing
// coordinates are defined.
type Section struct {
	Lower, Upper []float64
	Cuts         []HalfSpace

	memory []float64
}

// Section fills c for a row, without half-spaces that have no missing cell.
func (s *Domain) Section(c *Section, x, mask []float64) {
	d := len(s.Lower)
	c.Lower, c.Upper = s.GapBounds()
	c.Cuts = c.Cuts[:0]
	if len(c.memory) < d*len(s.Half) {
		c.memory = make([]float64, d*len(s.Half))
	}
	for k, h := range s.Half {
		cut := HalfSpace{A: c.memory[k*d : k*d+d], B: h.B}
		any := false
		for j, a := range h.A {
			cut.A[j] = 0
			switch {
			case mask[j] != 0:
				cut.B -= a * x[j]
			case a != 0:
				cut.A[j], any = a, true
			}
		}
		if any {
			c.Cuts = append(c.Cuts, cut)
		}
	}
}

// Single returns the only half-space of the section if its coordinates have no other bound. An
// isotropic normal is then truncated along A and follows the box in other directions.
func (c *Section) Single() (h HalfSpace, ok bool) {
	if len(c.Cuts) != 1 {
		return h, false
	}
	h = c.Cuts[0]
	for j, a := range h.A {
		if a != 0 && (!math.IsInf(c.Lower[j], -1) || !math.IsInf(c.Upper[j], 1)) {
			return h, false
		}
	}
	return h, true
}

// Contains reports whether the missing cells of a completed row are in the section.
func (c *Section) Contains(x, mask []float64) bool {
	for j, m := range mask {
		if m == 0 && !(c.Lower[j] <= x[j] && x[j] <= c.Upper[j]) {
			return false
		}
	}
	for _, h := range c.Cuts {
		sum := 0.0
		for j, a := range h.A {
			if a != 0 { // 0 for observed coordinates
				sum += a * x[j]
			}
		}
		if sum > h.B {
			return false
		}
	}
	return true
}

// Interval returns the range of coordinate j with the others fixed.
func (c *Section) Interval(x []float64, j int) (lower, upper float64) {
	lower, upper = c.Lower[j], c.Upper[j]
	for _, h := range c.Cuts {
		a := h.A[j]
		if a == 0 {
			continue
		}
		rest := h.B
		for i, v := range h.A {
			if v != 0 && i != j {
				rest -= v * x[i]
			}
		}
		if a > 0 {
			upper = min(upper, rest/a)
		} else {
			lower = max(lower, rest/a)
		}
	}
	return lower, upper
}
