package transform

import (
	"encoding/json"
	"math"
)

type elementary struct {
	kind  string
	needs string // description of its domain

	low, high float64 // open domain, mapped to (−∞, ∞),
	closed    bool    // or closed at low, which is mapped to 0

	forward, inverse, logSlope, curvature func(float64) float64
}

// Elementary functions: formula, domain, log T' and T”/T'.
var elementaries = []elementary{
	{
		kind: "log", needs: "numbers above 0", high: math.Inf(1),
		forward: math.Log, inverse: math.Exp,
		logSlope:  func(x float64) float64 { return -math.Log(x) },
		curvature: func(x float64) float64 { return -1 / x },
	},
	{ // log(1 + x)
		kind: "log1p", needs: "numbers above −1", low: -1, high: math.Inf(1),
		forward: math.Log1p, inverse: math.Expm1,
		logSlope:  func(x float64) float64 { return -math.Log1p(x) },
		curvature: func(x float64) float64 { return -1 / (1 + x) },
	},
	{
		kind: "sqrt", needs: "numbers from 0 on", high: math.Inf(1), closed: true,
		forward:   math.Sqrt,
		inverse:   func(y float64) float64 { return max(y, 0) * max(y, 0) },
		logSlope:  func(x float64) float64 { return -math.Log(2 * math.Sqrt(x)) },
		curvature: func(x float64) float64 { return -0.5 / x },
	},
	{ // log(x/(1 − x))
		kind: "logit", needs: "numbers between 0 and 1", high: 1,
		forward:   func(x float64) float64 { return math.Log(x) - math.Log1p(-x) },
		inverse:   func(y float64) float64 { return 1 / (1 + math.Exp(-y)) },
		logSlope:  func(x float64) float64 { return -math.Log(x) - math.Log1p(-x) },
		curvature: func(x float64) float64 { return (2*x - 1) / (x * (1 - x)) },
	},
}

func (e elementary) Kind() string { return e.kind }

func (e elementary) MarshalJSON() ([]byte, error) { return json.Marshal(file{Kind: e.kind}) }

func (e elementary) Check(x float64) error {
	if e.low < x && x < e.high || e.closed && x == e.low {
		return nil
	}
	return &ValueError{Kind: e.kind, Needs: e.needs}
}

func (e elementary) Forward(x float64) float64 { return e.forward(x) }
func (e elementary) Inverse(y float64) float64 { return e.inverse(y) }

func (e elementary) Slope(x float64) (log, curvature float64) {
	return e.logSlope(x), e.curvature(x)
}

// Infinite at or beyond the end of the function's domain.
func (e elementary) Bounds(low, high float64) (float64, float64) {
	a, b := math.Inf(-1), math.Inf(1)
	if low > e.low || e.closed && low == e.low {
		a = e.forward(low)
	}
	if high < e.high {
		b = e.forward(high)
	}
	return a, b
}
