package em

import (
	"slices"

	"missingscore/trainers/engine"
)

// Ahead starts the turns at another λ of a path where the moments of completed rows would be
// if they went on as between the last two: they change evenly with λ where P does not, as
// pairs come and go (docs/theory/complete-data.md#eq-ahead). With s.Passed those moments, the
// last first, and minimise the step at the new λ,
//
//	(μ, S) = passed₁ + by (passed₁ − passed₂),   P = minimise(S)
//
// It says whether it did; where there is no such P the model stays where it is.
func (t Turns) Ahead(s *State, by float64, minimise Minimiser) (ok bool) {
	if len(s.Passed) < 2 {
		return false
	}
	d, at := t.Model.Dim(), slices.Clone(s.Passed[0])
	for i, before := range s.Passed[1] {
		at[i] += by * (at[i] - before)
	}
	to := slices.Clone(s.Solved[d:])
	if !minimise(to, unpacked(at[d:], d)) || !engine.Finite(to...) {
		return false
	}
	next := slices.Concat(at[:d], to)
	if !t.Put(next) || t.Bounds != nil && !t.Bounds.Inside(t.Model) {
		t.Put(s.Solved)
		return false
	}
	s.Solved = next
	return true
}

// Next is where the turns at another λ of a path start from: with what Ahead needs of those made.
func (s *State) Next() State {
	next := State{Solved: s.Solved, Passed: s.Passed}
	if s.Moments != nil {
		next.Passed = append([][]float64{s.Moments}, s.Passed[:min(len(s.Passed), 1)]...)
	}
	return next
}

// packed is the upper triangle of a symmetric matrix (d, d), row by row.
func packed(full []float64, d int) (out []float64) {
	for j := range d {
		out = append(out, full[j*d+j:j*d+d]...)
	}
	return out
}

// unpacked is the symmetric matrix of an upper triangle.
func unpacked(upper []float64, d int) []float64 {
	out := make([]float64, d*d)
	for j, i := 0, 0; j < d; j++ {
		for k := j; k < d; k, i = k+1, i+1 {
			out[j*d+k], out[k*d+j] = upper[i], upper[i]
		}
	}
	return out
}
