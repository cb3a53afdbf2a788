package exactsum

import "math/big"

// Number is Whole · 2^Exponent.
type Number struct {
	Whole    big.Int
	Exponent int
}

// Of is x, which is finite, as a Number.
func Of(x float64) (n Number) {
	var c Column
	if c.Append(x); c.some {
		n.Whole.SetUint64(c.whole[0])
		if n.Exponent = c.lowest; x < 0 {
			n.Whole.Neg(&n.Whole)
		}
	}
	return n
}

// Int is an integer as a Number.
func Int(n int) Number { return Number{Whole: *big.NewInt(int64(n))} }

// Reduced is the same number with Whole odd, or with Exponent 0 if it is 0: equal numbers are
// then written alike.
func (n Number) Reduced() Number {
	if n.Whole.Sign() == 0 {
		return Number{}
	}
	zeros := n.Whole.TrailingZeroBits()
	out := Number{Exponent: n.Exponent + int(zeros)}
	out.Whole.Rsh(&n.Whole, zeros)
	return out
}

// Plus is n + m.
func (n Number) Plus(m Number) (out Number) {
	if n.Exponent < m.Exponent {
		n, m = m, n
	}
	out.Exponent = m.Exponent
	out.Whole.Lsh(&n.Whole, uint(n.Exponent-m.Exponent))
	out.Whole.Add(&out.Whole, &m.Whole)
	return out
}

// Minus is n − m.
func (n Number) Minus(m Number) Number {
	negative := Number{Exponent: m.Exponent}
	negative.Whole.Neg(&m.Whole)
	return n.Plus(negative)
}

// Times is n m.
func (n Number) Times(m Number) (out Number) {
	out.Whole.Mul(&n.Whole, &m.Whole)
	out.Exponent = n.Exponent + m.Exponent
	return out
}

// quotientBits of a quotient are right: many more than those of float64.
const quotientBits = 128

// Float is n with quotientBits bits, rounded to nearest.
func (n Number) Float() *big.Float {
	f := new(big.Float).SetPrec(quotientBits).SetInt(&n.Whole)
	return f.SetMantExp(f, n.Exponent)
}

// Over is n/m, m not 0.
func (n Number) Over(m Number) *big.Float { return new(big.Float).Quo(n.Float(), m.Float()) }

// Float64 is n rounded to nearest, ties to even; infinite where it is beyond float64.
func (n Number) Float64() float64 {
	f := new(big.Float).SetInt(&n.Whole) // with as many bits as it has
	x, _ := f.SetMantExp(f, n.Exponent).Float64()
	return x
}
