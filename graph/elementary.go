package graph

import "math"

// float32 functions by minimax polynomials, with relative error 3·10⁻⁷.

// exp32 is eˣ = 2ⁿ eʳ, |r| ≤ log(2)/2, and 0 below −87.
func exp32(x float32) float32 {
	const log2High, log2Low, bias = 0.693359375, -0.00021219444, 127 // log 2 in two parts (Cody & Waite 1980)
	switch {
	case x < -87:
		return 0
	case !(x <= 88): // also NaN
		return float32(math.Exp(float64(x)))
	}
	n := int32(x*math.Log2E + (bias + 0.5)) // rounded, plus the exponent's bias
	m := float32(n - bias)
	r := x - m*log2High - m*log2Low
	p := float32(0.0013901287)
	p = p*r + 0.0083631463
	p = p*r + 0.041666853
	p = p*r + 0.16666577
	p = p*r + 0.5
	return math.Float32frombits(uint32(n)<<23) * (p*r*r + r + 1)
}

// tanh32 is tanh z, by a polynomial near 0, where 1 − e^(−2|z|) loses digits.
func tanh32(z float32) float32 {
	size := max(z, -z)
	if size < 0.625 {
		u := z * z
		p := float32(-0.0060969414)
		p = p*u + 0.020997357
		p = p*u - 0.053850953
		p = p*u + 0.1333277
		p = p*u - 0.33333329
		return z + p*u*z
	}
	e := exp32(-2 * size)
	t := (1 - e) / (1 + e)
	if z < 0 {
		return -t
	}
	return t
}
