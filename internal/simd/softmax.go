package simd

import "math"

// exp(x) in float32 by a polynomial, to a relative error of 3·10⁻⁷ and without a detour by float64.
// Coefficients are minimax, fitted to 40-digit values.

const (
	log2High = 0.693359375 // log 2 in two parts, the first exact in few digits (Cody & Waite 1980)
	log2Low  = -0.00021219444
	leastExp = -87 // of the argument; below it eˣ is 0, and would soon be subnormal
	mostExp  = 88
	expBias  = 127 // of the exponent's bits

	expOrder6 = 0.0013901287
	expOrder5 = 0.0083631463
	expOrder4 = 0.041666853
	expOrder3 = 0.16666577
	expOrder2 = 0.5
)

// Exp32 is eˣ = 2ⁿ eʳ, |r| ≤ log(2)/2.
func Exp32(x float32) float32 {
	switch {
	case x < leastExp:
		return 0
	case !(x <= mostExp): // NaN too
		return float32(math.Exp(float64(x)))
	}
	n := int32(x*math.Log2E + (expBias + 0.5)) // rounded, and the exponent's bits
	m := float32(n - expBias)
	r := x - m*log2High - m*log2Low
	p := float32(expOrder6)
	p = p*r + expOrder5
	p = p*r + expOrder4
	p = p*r + expOrder3
	p = p*r + expOrder2
	return math.Float32frombits(uint32(n)<<23) * (p*r*r + r + 1)
}

// What is less than 10⁻²⁶ of the largest (float64: 10⁻²⁶⁰) counts as 0 in a softmax, for nothing is
// left of it in a sum, and products with it would be subnormal, which some processors multiply a
// hundred times slower.
const (
	leastSoftmax32 = -60
	leastSoftmax64 = -600
)

// GroupSoftmax is out_k = exp(x_k)/Σ_l exp(x_l) within each r consecutive numbers. The group's maximum
// is taken out first, so no x is too large.
func GroupSoftmax[T Float](out, x []T, r int) {
	switch out := any(out).(type) {
	case []float32:
		groupSoftmaxSingle(out, any(x).([]float32), r)
	case []float64:
		groupSoftmax(out, any(x).([]float64), r, leastSoftmax64, math.Exp)
	}
}

// groupSoftmax has exp for eˣ, and takes eˣ for 0 below least.
func groupSoftmax[T Float](out, x []T, r int, least T, exp func(T) T) {
	for i := 0; i < len(out); i += r {
		x, w := x[i:i+r], out[i:i+r]
		top := x[0]
		for _, v := range x[1:] {
			top = max(top, v)
		}
		var sum T
		for k, v := range x {
			if w[k] = 0; !(v-top < least) {
				w[k] = exp(v - top)
			}
			sum += w[k]
		}
		for k := range w {
			w[k] /= sum
		}
	}
}

// softmaxConstants has each constant in all lanes, as the instructions take them, in the order of
// asm/softmax.go.
var softmaxConstants = func() (c [12][8]uint32) {
	for k, v := range [...]float32{leastSoftmax32, math.Log2E, expBias + 0.5, 0, log2High, log2Low, expOrder6, expOrder5, expOrder4, expOrder3, expOrder2, 1} {
		for i := range c[k] {
			if c[k][i] = math.Float32bits(v); k == 3 {
				c[k][i] = expBias
			}
		}
	}
	return c
}()
