// Package binormal has the standard bivariate normal distribution with correlation ρ: density,
// distribution function and probabilities of rectangles.
package binormal

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Density is the density at (x, y) for |ρ| < 1; 0 if a coordinate is infinite.
//
//	φ₂(x, y; ρ) = exp(−(x² − 2ρxy + y²)/(2(1 − ρ²))) / (2π √(1 − ρ²))
//
// It equals ∂CDF/∂ρ (Plackett 1954).
func Density(x, y, rho float64) float64 {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return 0
	}
	left := (1 - rho) * (1 + rho)
	return math.Exp(-(x*x-2*rho*x*y+y*y)/(2*left)) / (2 * math.Pi * math.Sqrt(left))
}

// CDF is P(X ≤ x, Y ≤ y), −1 ≤ ρ ≤ 1, with an error of about 1e-15: the algorithm BVND of Genz 2004
// ("Numerical computation of rectangular bivariate and trivariate normal and t probabilities",
// Statistics and Computing 14), after Drezner & Wesolowsky 1990.
func CDF(x, y, rho float64) float64 { return max(0, min(1, upper(-x, -y, rho))) }

// rule is a Gauss-Legendre quadrature on (0, 2), with weights that sum to 2.
type rule struct{ at, weight []float64 }

func newRule(n int) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	quad.Legendre{}.FixedLocations(r.at, r.weight, 0, 2)
	return r
}

// rules are for |ρ| < 0.3, < 0.75 and above.
var rules = [3]rule{newRule(6), newRule(12), newRule(20)}

func ruleOf(rho float64) rule {
	switch {
	case math.Abs(rho) < 0.3:
		return rules[0]
	case math.Abs(rho) < 0.75:
		return rules[1]
	}
	return rules[2]
}

func upper(h, k, rho float64) float64 {
	switch {
	case math.IsInf(h, 1) || math.IsInf(k, 1):
		return 0
	case math.IsInf(h, -1):
		return tail(k)
	case math.IsInf(k, -1):
		return tail(h)
	case rho == 0:
		return tail(h) * tail(k)
	case math.Abs(rho) >= 0.925:
		return steep(h, k, rho)
	}
	squares, product, half := (h*h+k*k)/2, h*k, math.Asin(rho)/2
	r, sum := ruleOf(rho), 0.0
	for i, at := range r.at {
		sin := math.Sin(half * at)
		sum += r.weight[i] * math.Exp((sin*product-squares)/(1-sin*sin))
	}
	return sum*half/(2*math.Pi) + tail(h)*tail(k)
}

func tail(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

const farthest = -100 // smaller exponents are negligible

// steep is upper for |ρ| ≥ 0.925: a series integrates the peak, quadrature the rest.
func steep(h, k, rho float64) float64 {
	positive := rho > 0
	if !positive {
		k = -k
	}
	product, sum := h*k, 0.0
	if math.Abs(rho) < 1 {
		sum = peak(h, k, product, math.Abs(rho))
	}
	switch {
	case positive:
		return sum + tail(max(h, k))
	case h >= k:
		return -sum
	case h < 0:
		return tail(-k) - tail(-h) - sum
	}
	return tail(h) - tail(k) - sum
}

func peak(h, k, product, rho float64) float64 {
	left := (1 - rho) * (1 + rho)
	a, gap := math.Sqrt(left), (h-k)*(h-k)
	c, d := (4-product)/8, (12-product)/80
	sum := 0.0
	if e := -(gap/left + product) / 2; e > farthest {
		sum = a * math.Exp(e) * (1 - c*(gap-left)*(1-d*gap)/3 + c*d*left*left)
	}
	if product > farthest {
		b := math.Sqrt(gap)
		sum -= math.Exp(-product/2) * math.Sqrt(2*math.Pi) * tail(b/a) * b * (1 - c*gap*(1-d*gap)/3)
	}
	a /= 2
	r := ruleOf(rho)
	for i, at := range r.at {
		x := a * a * at * at
		e := -(gap/x + product) / 2
		if e <= farthest {
			continue
		}
		root := math.Sqrt(1 - x)
		series := 1 + c*x*(1+5*d*x)
		exact := math.Exp(-product/2*x/((1+root)*(1+root))) / root
		sum -= a * r.weight[i] * math.Exp(e) * (series - exact)
	}
	return -sum / (2 * math.Pi)
}
