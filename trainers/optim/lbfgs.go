package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// LBFGS is the limited-memory quasi-Newton method (Nocedal 1980; Nocedal & Wright 2006,
// algorithm 7.4) as a value: copy it, save it, go on. It knows the inverse Hessian H by
// the last steps s and the changes y of the gradient over them. The zero value is ready.
//
// gonum's optimize.LBFGS keeps its pairs private, so a killed fit could not resume to the same numbers, and
// its line searches ignore rounding: with near-dependent columns they fail at a relative gradient of
// 1e-5 (trainers/certified, collinear-gaps), where WolfeStep goes on to 1e-9.
type LBFGS struct {
	S, Y [][]float64 // the oldest first
}

const (
	lbfgsPairs = 20 // remembered at most
	// A pair whose sᵀy is less of ‖s‖‖y‖ says nothing but rounding, or that the function
	// is not convex there; without it H stays positive definite.
	lbfgsCurvature = 1e-12
)

// Direction is −Hg for a gradient g. Without pairs it is −g, no longer than 1.
func (l *LBFGS) Direction(g []float64) []float64 {
	n := len(l.S)
	d := make([]float64, len(g))
	if n == 0 {
		floats.ScaleTo(d, -min(1, 1/floats.Norm(g, 2)), g)
		return d
	}
	floats.ScaleTo(d, -1, g)
	along := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		along[i] = floats.Dot(l.S[i], d) / floats.Dot(l.S[i], l.Y[i])
		floats.AddScaled(d, -along[i], l.Y[i])
	}
	s, y := l.S[n-1], l.Y[n-1]
	floats.Scale(floats.Dot(s, y)/floats.Dot(y, y), d)
	for i := range n {
		back := floats.Dot(l.Y[i], d) / floats.Dot(l.S[i], l.Y[i])
		floats.AddScaled(d, along[i]-back, l.S[i])
	}
	return d
}

// Learn remembers a step s and the change y of the gradient over it, which it keeps; the
// oldest pair makes room.
func (l *LBFGS) Learn(s, y []float64) {
	if !(floats.Dot(s, y) > lbfgsCurvature*floats.Norm(s, 2)*floats.Norm(y, 2)) {
		return
	}
	if len(l.S) == lbfgsPairs {
		l.S, l.Y = l.S[1:], l.Y[1:]
	}
	l.S, l.Y = append(l.S, s), append(l.Y, y)
}

// Forget leaves no pair.
func (l *LBFGS) Forget() { l.S, l.Y = nil, nil }

const (
	wolfeDecrease = 1e-4 // of the fall that the slope promises
	wolfeSlope    = 0.9  // of the slope may be left
	wolfeTrials   = 60
)

// WolfeStep seeks a step t > 0 along a direction on which a function has the value f(t)
// and the slope f'(t), by doubling and bisection from 1, with
//
//	f(t) ≤ f(0) + 10⁻⁴ t f'(0)  and  f'(t) ≥ 0.9 f'(0)
//
// (Wolfe). Where values are known to ±noise only, f(t) ≤ f(0) + noise with
// f'(t) ≤ (2·10⁻⁴ − 1) f'(0) will do for the first, as near a minimum the slope is known
// better than the value (Hager & Zhang 2005, equation 4.1). at gives f and f'; a value
// that is not finite is too far. ok says that a step was found; at was called with it last.
func WolfeStep(at func(t float64) (value, slope float64, err error), value, slope, noise float64) (ok bool, err error) {
	t, low, high := 1.0, 0.0, math.Inf(1)
	for range wolfeTrials {
		v, s, err := at(t)
		if err != nil {
			return false, err
		}
		falls := v <= value+wolfeDecrease*t*slope || v <= value+noise && s <= (2*wolfeDecrease-1)*slope
		switch {
		case !falls || math.IsInf(v, -1): // NaN too
			high = t
		case s < wolfeSlope*slope:
			low = t
		default:
			return true, nil
		}
		if t = 2 * low; !math.IsInf(high, 1) {
			t = (low + high) / 2
		}
	}
	return false, nil
}
