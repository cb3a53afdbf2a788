// Package truncnorm has the standard normal distribution truncated to [α, β], also far in the tails.
package truncnorm

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

const halfLog2Pi = 0.918938533204672741780329736405617639861 // log(2π)/2

// Unbounded replaces an infinite bound where 0·∞ must be 0, as in gradients. float32 can hold it.
const Unbounded = 1e30

// LogMass is log(Φ(β) − Φ(α)), −Inf for an empty interval.
func LogMass(alpha, beta float64) float64 {
	switch {
	case free(alpha, beta):
		return 0
	case !(alpha < beta):
		return math.Inf(-1)
	case alpha > 0:
		alpha, beta = -beta, -alpha
	}
	if width := beta - alpha; width*max(1, -alpha, math.Abs(beta)) < 1e-5 { // where the difference cancels
		middle := (alpha + beta) / 2
		return math.Log(width) - 0.5*middle*middle - halfLog2Pi
	}
	if beta > 0 {
		return math.Log1p(-0.5*math.Erfc(-alpha/math.Sqrt2) - 0.5*math.Erfc(beta/math.Sqrt2))
	}
	top := logCDF(beta)
	return top + math.Log1p(-math.Exp(logCDF(alpha)-top))
}

// LogDensity is the log density at x in [α, β], −x²/2 − ½ log 2π − log(Φ(β) − Φ(α)).
func LogDensity(x, alpha, beta float64) float64 {
	if x < alpha || x > beta {
		return math.Inf(-1)
	}
	return -0.5*x*x - halfLog2Pi - LogMass(alpha, beta)
}

// Transport is the increasing map T(z; α, β) from a standard normal z to [α, β]: with p = Φ(z),
//
//	T = Φ⁻¹((1−p) Φ(α) + p Φ(β))
//
// computed in the smaller tail and, beyond 35 standard deviations, by the Newton steps of Botev
// 2017 ("The normal law under linear restrictions", function norminvp).
func Transport(z, alpha, beta float64) float64 {
	if beta <= 0 {
		return -Transport(-z, -beta, -alpha)
	}
	if free(alpha, beta) {
		return z
	}
	p, q := 0.5*math.Erfc(-z/math.Sqrt2), 0.5*math.Erfc(z/math.Sqrt2)
	var t float64
	switch {
	case alpha > 35:
		t = far(p, q, alpha, beta)
	case alpha > 0:
		t = -mathext.NormalQuantile(q*upper(alpha) + p*upper(beta))
	default:
		if low := q*upper(-alpha) + p*upper(-beta); low < 0.5 {
			t = mathext.NormalQuantile(low)
		} else {
			t = -mathext.NormalQuantile(q*upper(alpha) + p*upper(beta))
		}
	}
	return min(max(t, alpha), beta)
}

// Draw draws a standard normal conditioned on [α, β], by rejection from the uniform, the normal or
// an exponential distribution (Robert 1995, "Simulation of truncated normal variables"). It is
// three times as fast as Transport. NaN for an empty interval.
func Draw(rng *rand.Rand, alpha, beta float64) float64 {
	if !(alpha <= beta) {
		return math.NaN()
	}
	if alpha+beta < 0 {
		return -Draw(rng, -beta, -alpha)
	}
	width, top, rate := beta-alpha, max(alpha, 0), 0.5*(alpha+math.Sqrt(alpha*alpha+4))
	for {
		switch {
		case alpha <= 0 && !(width < 2.5):
			if x := rng.NormFloat64(); x >= alpha && x <= beta {
				return x
			}
		case alpha <= 0 || width*rate < 1.5:
			if x := alpha + width*rng.Float64(); !(0.5*(x-top)*(x+top) > rng.ExpFloat64()) {
				return min(x, beta)
			}
		default:
			if x := alpha + rng.ExpFloat64()/rate; x <= beta && !(0.5*(x-rate)*(x-rate) > rng.ExpFloat64()) {
				return x
			}
		}
	}
}

// far solves Q(t) = q Q(α) + p Q(β) for large α, Q = 1 − Φ, divided by the normal density at t.
func far(p, q, alpha, beta float64) float64 {
	inner := q + p*math.Exp(0.5*(alpha-beta)*(alpha+beta))
	if inner == 0 {
		return beta
	}
	t := math.Sqrt(alpha*alpha - 2*math.Log(inner))
	for range 20 {
		step := q*math.Exp(0.5*(t-alpha)*(t+alpha))*mills(alpha) - mills(t)
		if p > 0 && !math.IsInf(beta, 1) {
			step += p * math.Exp(0.5*(t-beta)*(t+beta)) * mills(beta)
		}
		t -= step
		if math.Abs(step) < 1e-15*t {
			break
		}
	}
	return t
}

// Slopes returns the derivatives of t = Transport(z, α, β) with respect to z, α and β.
func Slopes(t, z, alpha, beta float64) (byZ, byAlpha, byBeta float64) {
	if free(alpha, beta) {
		return 1, 0, 0
	}
	p, q := 0.5*math.Erfc(-z/math.Sqrt2), 0.5*math.Erfc(z/math.Sqrt2)
	return math.Exp(LogMass(alpha, beta) + 0.5*(t-z)*(t+z)),
		q * math.Exp(0.5*(t-alpha)*(t+alpha)),
		p * math.Exp(0.5*(t-beta)*(t+beta))
}

// MassSlopes returns the derivatives of LogMass with respect to α and β, −φ(α)/Z and φ(β)/Z.
func MassSlopes(alpha, beta float64) (byAlpha, byBeta float64) {
	if free(alpha, beta) {
		return 0, 0
	}
	z := LogMass(alpha, beta) + halfLog2Pi
	return -math.Exp(-0.5*alpha*alpha - z), math.Exp(-0.5*beta*beta - z)
}

// Standardising may have made Unbounded smaller.
func free(alpha, beta float64) bool { return alpha < -1e15 && beta > 1e15 }

func upper(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

func logCDF(x float64) float64 {
	if x > -5 {
		return math.Log(upper(-x))
	}
	if math.IsInf(x, -1) {
		return x
	}
	return -0.5*x*x - halfLog2Pi + math.Log(mills(-x))
}

// mills is (1 − Φ(x))/φ(x) for x ≥ 5, by Laplace's continued fraction 1/(x + 1/(x + 2/(x + …))).
func mills(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	f := x
	for k := 60.; k > 0; k-- {
		f = x + k/f
	}
	return 1 / f
}
