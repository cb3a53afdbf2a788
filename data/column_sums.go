package data

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// ColumnSums are what two passes over a column's observed values learn of it, some values at a
// time: in the first their number, range, sum and root of their squares, in the second how
// they vary about their mean. The values are taken in a unit near the largest size, a power of two,
// so that no square is beyond float64. The zero value is of no values.
//
// Of values that come in parts the sums are those of the parts' sums, in their order: another
// division into parts gives the same up to rounding.
type ColumnSums struct {
	Number    int
	Low, High float64
	Sum, Norm float64 // Σ x and √Σ x²

	rest, square float64 // Σ y and Σ y² of y = (x − mean)/spread
}

// First adds values in the first pass.
func (c *ColumnSums) First(x []float64) {
	if len(x) == 0 {
		return
	}
	low, high := floats.Min(x), floats.Max(x)
	if c.Number == 0 {
		c.Low, c.High = low, high
	}
	c.Low, c.High = min(c.Low, low), max(c.High, high)
	c.Number += len(x)
	c.Sum += floats.Sum(x)
	c.Norm = math.Hypot(c.Norm, floats.Norm(x, 2))
}

// unit, mean and spread are those of the second pass: mean in the unit, and spread of it.
func (c *ColumnSums) unit() (unit, mean, spread float64) {
	_, exponent := math.Frexp(max(math.Abs(c.High), math.Abs(c.Low)))
	unit = math.Ldexp(1, max(exponent, -1000)) // the inverse of smaller ones is infinite
	mean = c.Sum / unit / float64(c.Number)
	_, exponent = math.Frexp(c.High/unit - c.Low/unit)
	return unit, mean, math.Ldexp(1, exponent)
}

// Second adds the same values in the second pass, when the first has seen all. It changes x.
func (c *ColumnSums) Second(x []float64) {
	if len(x) == 0 {
		return
	}
	unit, mean, spread := c.unit()
	floats.Scale(1/unit, x)
	floats.AddConst(-mean, x)
	floats.Scale(1/spread, x)
	c.rest += floats.Sum(x)
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	c.square += square
}

// Seconds takes over the second pass's sums of other values.
func (c *ColumnSums) Seconds(o ColumnSums) {
	c.rest += o.rest
	c.square += o.square
}

// Firsts takes over the first pass's sums of other values.
func (c *ColumnSums) Firsts(o ColumnSums) {
	if o.Number == 0 {
		return
	}
	if c.Number == 0 {
		c.Low, c.High = o.Low, o.High
	}
	c.Low, c.High = min(c.Low, o.Low), max(c.High, o.High)
	c.Number += o.Number
	c.Sum += o.Sum
	c.Norm = math.Hypot(c.Norm, o.Norm)
}

// MeanDeviation are mean and deviation, with divisor n, after both passes.
func (c *ColumnSums) MeanDeviation() (mean, deviation float64) {
	unit, mean, spread := c.unit()
	n := float64(c.Number)
	rest := c.rest / n // that rounding of the mean leaves
	return mean * unit, math.Sqrt(max(c.square/n-rest*rest, 0)) * spread * unit
}

// Fault says, by a *ColumnError, why a column of this name cannot be standardised.
func (c *ColumnSums) Fault(name string) error {
	if c.Number == 0 {
		return &ColumnError{name, "no observed value"}
	}
	if c.Low == c.High {
		return &ColumnError{name, fmt.Sprintf("constant, every observed value is %g", c.Low)}
	}
	if _, deviation := c.MeanDeviation(); deviation < smallest {
		return &ColumnError{name, fmt.Sprintf("its values differ too little (standard deviation %.2g, less than %g): give it another unit", deviation, smallest)}
	}
	return nil
}

// Restart forgets the second pass.
func (c *ColumnSums) Restart() { c.rest, c.square = 0, 0 }
