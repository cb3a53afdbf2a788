package pairmoments

import (
	"math"

	"missingscore/internal/data/binormal"
)

const (
	largestCorrelation = 0.9999 // largest absolute value
	leastMass          = 1e-12  // least probability of a rectangle in a likelihood
)

// Polychoric returns the correlation ρ of two latent standard normals from their contingency table
// and thresholds, by maximum likelihood given the thresholds: the two-step estimate of Olsson 1979
// ("Maximum likelihood estimation of the polychoric correlation coefficient", Psychometrika 44;
// docs/theory/ordinal.md#eq-polychoric),
//
//	Σ_ab n_ab log π_ab(ρ),   π_ab = ∫∫ φ₂(x, y; ρ) over (τ_a, τ_(a+1)] × (σ_b, σ_(b+1)]
//
// It is 0 without counts and at most 0.9999 in size. In a 2 × 2 table one empty cell gets half a
// row with margins kept, as in lavaan.
func Polychoric(counts [][]float64, first, second []float64) float64 {
	counts = corrected(counts)
	mass, slope := grid(len(first)+1, len(second)+1), grid(len(first)+1, len(second)+1)
	return root(func(rho float64) (score float64) {
		rectangles(mass, first, second, func(x, y float64) float64 { return binormal.CDF(x, y, rho) })
		rectangles(slope, first, second, func(x, y float64) float64 { return binormal.Density(x, y, rho) })
		for a, row := range counts {
			for b, n := range row {
				if n > 0 {
					score += n * slope[a][b] / max(leastMass, mass[a][b])
				}
			}
		}
		return score
	})
}

func grid(rows, columns int) [][]float64 {
	g := make([][]float64, rows)
	for a := range g {
		g[a] = make([]float64, columns)
	}
	return g
}

func rectangles(into [][]float64, first, second []float64, f func(x, y float64) float64) {
	inf := math.Inf(1)
	at := func(cuts []float64, k int) float64 {
		if k < len(cuts) {
			return cuts[k]
		}
		return inf
	}
	before := make([]float64, len(second)+1) // f at the previous row threshold
	for a := range into {
		left, leftBefore := 0.0, 0.0
		for b := range into[a] {
			value := f(at(first, a), at(second, b))
			into[a][b] = value - left - before[b] + leftBefore
			left, leftBefore = value, before[b]
			before[b] = value
		}
	}
}

func corrected(counts [][]float64) [][]float64 {
	if len(counts) != 2 || len(counts[0]) != 2 {
		return counts
	}
	empty, at := 0, 0
	for cell := range 4 {
		if counts[cell/2][cell%2] == 0 {
			empty, at = empty+1, cell
		}
	}
	if empty != 1 {
		return counts
	}
	moved := grid(2, 2)
	for cell := range 4 {
		sign := 1.0 // of the empty cell and the opposite one
		if cell != at && cell != 3-at {
			sign = -1
		}
		moved[cell/2][cell%2] = counts[cell/2][cell%2] + sign/2
	}
	return moved
}

// Polyserial returns the correlation ρ of numbers x, with mean 0 and variance 1, and the latent
// standard normal of the categories levels, with multiplicities count, by maximum likelihood given
// x and the thresholds: the two-step estimate of Olsson, Drasgow & Dorans 1982 ("The polyserial
// correlation coefficient", Psychometrika 47; docs/theory/ordinal.md#eq-polyserial),
//
//	Σ_i n_i log( Φ(u_i,c+1) − Φ(u_i,c) ),   u_i,c = (τ_c − ρ x_i) / √(1 − ρ²)
func Polyserial(x []float64, levels []int, count, cuts []float64) float64 {
	return root(func(rho float64) (score float64) {
		s := math.Sqrt((1 - rho) * (1 + rho))
		end := func(k int, x float64) (mass, slope float64) {
			switch k {
			case -1:
				return 0, 0
			case len(cuts):
				return 1, 0
			}
			u := (cuts[k] - rho*x) / s
			density := math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
			return 0.5 * math.Erfc(-u/math.Sqrt2), density * (cuts[k]*rho - x) / (s * s * s)
		}
		for i, v := range x {
			high, above := end(levels[i], v)
			low, below := end(levels[i]-1, v)
			score += count[i] * (above - below) / max(leastMass, high-low)
		}
		return score
	})
}

const rootTolerance = 1e-9 // of ρ

// root returns the zero of a derivative in ρ by the method of Ridders 1979, or ±largestCorrelation.
// It brackets in steps from 0, because masses underflow near ±1.
func root(score func(rho float64) float64) (rho float64) {
	low, atLow := 0.0, score(0)
	if atLow == 0 {
		return 0
	}
	sign := math.Copysign(1, atLow)
	high, atHigh := low, atLow
	for _, to := range []float64{0.4, 0.7, 0.9, 0.97, 0.99, 0.999, largestCorrelation} {
		low, atLow = high, atHigh
		if high, atHigh = to, sign*score(sign*to); atHigh < 0 {
			return sign * ridders(func(rho float64) float64 { return sign * score(sign*rho) }, low, high, math.Abs(atLow), atHigh)
		}
	}
	return sign * largestCorrelation
}

func ridders(score func(rho float64) float64, low, high, atLow, atHigh float64) (rho float64) {
	for last := math.Inf(1); high-low > rootTolerance; {
		middle := (low + high) / 2
		at := score(middle)
		rho = middle + (middle-low)*at/math.Sqrt(at*at-atLow*atHigh)
		if at > 0 {
			low, atLow = middle, at
		} else {
			high, atHigh = middle, at
		}
		if math.Abs(rho-last) < rootTolerance {
			return rho
		}
		if last, at = rho, score(rho); at > 0 {
			low, atLow = max(low, rho), at
		} else {
			high, atHigh = min(high, rho), at
		}
	}
	return rho
}
