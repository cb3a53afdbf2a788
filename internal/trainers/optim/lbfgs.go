package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// LBFGS is the limited-memory quasi-Newton method (Nocedal 1980; Nocedal & Wright 2006, algorithm
// 7.4).
//
// gonum's optimize.LBFGS cannot be saved and resumed, and its line searches fail at a relative
// gradient of 1e-5 with nearly collinear columns (trainers/certified, collinear-gaps), where
// WolfeStep reaches 1e-9.
type LBFGS struct {
	S, Y [][]float64 // oldest first
}

const (
	lbfgsPairs = 20 // maximum memory
	// Pairs with sᵀy below this share of ‖s‖‖y‖ are ignored, so H stays positive definite.
	lbfgsCurvature = 1e-12
)

// Direction returns −Hg; without pairs −g, with norm at most 1.
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

// Learn keeps s and y without copies and drops the oldest pair if full.
func (l *LBFGS) Learn(s, y []float64) {
	if !(floats.Dot(s, y) > lbfgsCurvature*floats.Norm(s, 2)*floats.Norm(y, 2)) {
		return
	}
	if len(l.S) == lbfgsPairs {
		l.S, l.Y = l.S[1:], l.Y[1:]
	}
	l.S, l.Y = append(l.S, s), append(l.Y, y)
}

func (l *LBFGS) Forget() { l.S, l.Y = nil, nil }

const (
	wolfeDecrease = 1e-4 // share of the decrease predicted by the slope
	wolfeSlope    = 0.9  // share of the slope
	wolfeTrials   = 60
)

// WolfeStep searches t > 0 by doubling and bisection from 1 with the Wolfe conditions
//
//	f(t) ≤ f(0) + 10⁻⁴ t f'(0)  and  f'(t) ≥ 0.9 f'(0)
//
// where f(0) = value and f'(0) = slope along a direction. With noise the first may be f(t) ≤ f(0) +
// noise and f'(t) ≤ (2·10⁻⁴ − 1) f'(0) (Hager & Zhang 2005, equation 4.1). A value that is not
// finite is too far. If ok, the last call of at was with the accepted t.
func WolfeStep(at func(t float64) (value, slope float64, err error), value, slope, noise float64) (ok bool, err error) {
	t, low, high := 1.0, 0.0, math.Inf(1)
	for range wolfeTrials {
		v, s, err := at(t)
		if err != nil {
			return false, err
		}
		falls := v <= value+wolfeDecrease*t*slope || v <= value+noise && s <= (2*wolfeDecrease-1)*slope
		switch {
		case !falls || math.IsInf(v, -1): // also for NaN
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
