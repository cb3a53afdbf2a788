package em

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Lead holds the moments (μ, S) of completed rows along a path, packed
// (docs/theory/complete-data.md#eq-ahead).
type Lead struct {
	Moments []float64   // the model is their minimum
	Passed  [][]float64 // final moments at the last two λ, most recent first
	Gain    float64     // extrapolation factor of the moments; 0: not started
	Away    []float64   // change of the moments by the last iteration
	Moved   float64     // by the last iteration, as State.Movement
	Rate    float64     // of convergence, by the last two iterations; 0: unknown
}

// leastRate is the smallest assumed rate of convergence.
const leastRate = 0.35

// Begin starts the iterations at the next λ from extrapolated moments,
//
//	(μ, S) = passed₁ + by (passed₁ − passed₂),   P = minimise(S)
//
// or passed₁ if there is no such P; by is the ratio of the last two steps. False without earlier
// moments.
func (t *Turns) Begin(s *State, by float64, minimise Minimiser) (ok bool) {
	l := &s.Lead
	if len(l.Passed) == 0 {
		return false
	}
	if len(l.Passed) > 1 {
		at := slices.Clone(l.Passed[0])
		for i, before := range l.Passed[1] {
			at[i] += by * (at[i] - before)
		}
		if t.minimum(s, at, minimise) {
			return true
		}
	}
	return t.minimum(s, l.Passed[0], minimise)
}

func (t *Turns) minimum(s *State, moments []float64, minimise Minimiser) (ok bool) {
	d := t.Model.Dim()
	next := append(slices.Clone(moments[:d]), s.Solved[d:]...)
	t.square = Unpacked(moments[d:], d, t.square)
	if !minimise(next[d:], t.square) || !t.Put(next) {
		t.Put(s.Solved)
		return false
	}
	if t.Bounds != nil && t.Bounds.Project(t.Model) {
		s.Projections++
		copy(next[d:], t.Model.Packed.Value)
	}
	s.Solved, s.Lead.Moments = next, moments
	return true
}

// Onward makes an iteration after Begin:
//
//	f = Ŝ(P) − S,   S ← S + g f,   P ← minimise(S)
//
// accelerated by Anderson's method. It returns a *SingularError if the minimisation has no
// solution.
func (t *Turns) Onward(ctx context.Context, s *State, minimise Minimiser) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d, x, l := t.Model.Dim(), s.Solved, &s.Lead
	found, err := t.expect(s, x)
	if err != nil {
		return err
	}
	away := floats.SubTo(make([]float64, len(found)), found, l.Moments)
	if s.Count == 1 {
		t.adapt(l, away)
	}
	farther := floats.AddScaledTo(make([]float64, len(found)), l.Moments, l.Gain, away)
	l.Away = away
	ok := t.minimum(s, s.Anderson.Next(l.Moments, farther), minimise)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok {
		if s.Anderson.Forget(); !t.minimum(s, found, minimise) {
			return &SingularError{Turn: s.Count, Mean: found[:d], Covariances: Unpacked(found[d:], d, nil)}
		}
	}
	before := l.Moved
	l.Moved, s.Relative = moved(x, s.Solved, d)
	if s.Count > 0 && before > 0 {
		l.Rate = min(max(l.Moved/before, leastRate), 1)
	}
	if s.Movement = l.Moved; l.Rate > 0 {
		s.Movement *= l.Rate
	}
	if s.Count > 0 && l.Moved > 2*before {
		s.Anderson.Forget()
	}
	s.Count++
	return nil
}

func (t *Turns) adapt(l *Lead, away []float64) {
	left := floats.Dot(away, l.Away) / floats.Dot(l.Away, l.Away)
	if best := l.Gain / (1 - left); best > 0 && !math.IsInf(best, 0) {
		l.Gain = min(max((l.Gain+best)/2, 1), t.MostGain)
	}
}

func (s *State) Next() State {
	next := State{Solved: s.Solved, Lead: Lead{Passed: s.Lead.Passed, Gain: s.Lead.Gain, Rate: s.Lead.Rate}}
	if s.Lead.Moments != nil {
		next.Lead.Passed = append([][]float64{s.Lead.Moments}, next.Lead.Passed[:min(len(next.Lead.Passed), 1)]...)
	}
	return next
}

// Unpacked returns the symmetric matrix (d, d) of a packed upper triangle, in out if it is not nil.
func Unpacked(upper []float64, d int, out []float64) []float64 {
	if out == nil {
		out = make([]float64, d*d)
	}
	for j, i := 0, 0; j < d; j++ {
		for k := j; k < d; k, i = k+1, i+1 {
			out[j*d+k], out[k*d+j] = upper[i], upper[i]
		}
	}
	return out
}
