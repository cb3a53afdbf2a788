package simd

import "math"

// Sigmoid is out = σ(z) = 1/(1 + e⁻ᶻ) to 2 units in the last place of 1, z clipped to ±708
// (float32: ±87).
func Sigmoid[T Float](out, z []T) {
	z = z[:len(out)]
	switch {
	case len(out) == 0:
	case !fast:
		most := 87.
		if double[T]() {
			most = 708
		}
		for i, v := range z {
			out[i] = T(1 / (1 + math.Exp(max(-most, min(-float64(v), most)))))
		}
	case double[T]():
		sigmoidF64(p64(out), p64(z), &elementary64[0][0], len(out))
	default:
		sigmoidF32(p32(out), p32(z), &elementary32[0][0], len(out))
	}
}

// Softplus is out = log(1 + eᶻ) with s = σ(z) given.
func Softplus[T Float](out, z, s []T) {
	z, s = z[:len(out)], s[:len(out)]
	switch {
	case len(out) == 0:
	case !fast:
		for i, v := range z {
			out[i] = max(v, 0) - T(math.Log1p(-float64(min(s[i], 1-s[i]))))
		}
	case double[T]():
		softplusF64(p64(out), p64(z), p64(s), &elementary64[0][0], len(out))
	default:
		softplusF32(p32(out), p32(z), p32(s), &elementary32[0][0], len(out))
	}
}

// In all lanes: log₂ e, log 2 in two parts, the bounds, 1, 2, then coefficients of exp r and of 2
// artanh(w)/w in w², highest powers first; asm/main.go has the same order.
var (
	elementary64 = elementary[[4]float64](0x1.62e42fefap-1, 0x1.cf79abc9e3b39p-40, 708, 14, 18)
	elementary32 = elementary[[8]float32](0.693359375, -0.00021219444, 87, 8, 8)
)

func elementary[V [4]float64 | [8]float32](high, low, most float64, terms, logTerms int) (table []V) {
	set := func(v float64) {
		var all V
		switch all := any(&all).(type) {
		case *[4]float64:
			for i := range all {
				all[i] = v
			}
		case *[8]float32:
			for i := range all {
				all[i] = float32(v)
			}
		}
		table = append(table, all)
	}
	for _, v := range []float64{math.Log2E, high, low, most, -most, 1, 2} {
		set(v)
	}
	for k := terms - 1; k >= 0; k-- {
		set(1 / math.Gamma(float64(k+1)))
	}
	for k := logTerms - 1; k >= 0; k-- {
		set(2 / float64(2*k+1))
	}
	return table
}
