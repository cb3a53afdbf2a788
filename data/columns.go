package data

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/internal/panics"
)

// ColumnSums accumulates a column's observed values in two passes: first number, range, sum and
// norm, then the variation about the mean. A power of two scales the values, so squares do not
// overflow. The zero value is empty.
type ColumnSums struct {
	Number    int
	Low, High float64
	Sum, Norm float64 // Σ x and √Σ x²

	rest, square float64 // Σ y and Σ y² of y = (x − mean)/spread
}

func (c *ColumnSums) first(x []float64) {
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

func (c *ColumnSums) unit() (unit, mean, spread float64) {
	_, exponent := math.Frexp(max(math.Abs(c.High), math.Abs(c.Low)))
	unit = math.Ldexp(1, max(exponent, -1000)) // avoids an infinite inverse
	mean = c.Sum / unit / float64(c.Number)
	_, exponent = math.Frexp(c.High/unit - c.Low/unit)
	return unit, mean, math.Ldexp(1, exponent)
}

// second needs first's sums of all values. It overwrites x.
func (c *ColumnSums) second(x []float64) {
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

// Seconds merges the second-pass sums of other values.
func (c *ColumnSums) Seconds(o ColumnSums) {
	c.rest += o.rest
	c.square += o.square
}

// Firsts merges the first-pass sums of other values.
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

// MeanDeviation returns the mean and the standard deviation (divisor n) after both passes.
func (c *ColumnSums) MeanDeviation() (mean, deviation float64) {
	unit, mean, spread := c.unit()
	n := float64(c.Number)
	rest := c.rest / n // rounding error of the mean
	return mean * unit, math.Sqrt(max(c.square/n-rest*rest, 0)) * spread * unit
}

// Fault returns a *ColumnError if the column cannot be standardised, else nil.
func (c *ColumnSums) Fault(name string) error {
	if c.Number == 0 {
		return &ColumnError{name, "no observed value"}
	}
	if c.Low == c.High {
		return &ColumnError{name, fmt.Sprintf("constant, every observed value is %g", c.Low)}
	}
	if c.wide() {
		return nil
	}
	if _, deviation := c.MeanDeviation(); deviation < SmallestDeviation {
		return &ColumnError{name, fmt.Sprintf("its values vary too little (standard deviation %.2g, less than %g): rescale it", deviation, SmallestDeviation)}
	}
	return nil
}

// wide reports whether the least standard deviation of the range, range/√(2n), is sufficient.
func (c *ColumnSums) wide() bool {
	return c.High-c.Low > SmallestDeviation*math.Sqrt(2*float64(c.Number))
}

// columnRanges returns full sums if the ranges do not show that every column can be standardised.
func columnRanges(t *Table) []ColumnSums {
	ranges := make([]ColumnSums, t.D)
	for i := 0; i < len(t.Values); i += t.D {
		for j := range ranges {
			if c, x := &ranges[j], t.Values[i+j]; t.Observed[i+j] {
				if c.Number == 0 {
					c.Low, c.High = x, x
				}
				c.Number, c.Low, c.High = c.Number+1, min(c.Low, x), max(c.High, x)
			}
		}
	}
	if slices.ContainsFunc(ranges, func(c ColumnSums) bool { return !c.wide() && c.Low != c.High }) {
		return columnSums(t)
	}
	return ranges
}

const (
	mostSumRows  = 1 << 13
	leastSumRows = 1 << 9
)

// Results do not depend on the number of threads.
func columnSums(t *Table) []ColumnSums {
	sums := make([]ColumnSums, t.D)
	for _, part := range FirstSums(t, runtime.GOMAXPROCS(0)) {
		for j := range sums {
			sums[j].Firsts(part[j])
		}
	}
	for _, part := range SecondSums(t, sums, runtime.GOMAXPROCS(0)) {
		for j := range sums {
			sums[j].Seconds(part[j])
		}
	}
	return sums
}

// FirstSums returns the first-pass sums of each column for each part of the rows, in order. A table
// and the blocks of its file give identical sums, with up to 512 columns and a value in every row.
func FirstSums(t *Table, workers int) [][]ColumnSums {
	return inParts(t, workers, func(_ int, x []float64) (c ColumnSums) {
		c.first(x)
		return c
	})
}

// SecondSums returns the second-pass sums of the same parts. first must include all rows.
func SecondSums(t *Table, first []ColumnSums, workers int) [][]ColumnSums {
	return inParts(t, workers, func(j int, x []float64) ColumnSums {
		c := first[j]
		c.rest, c.square = 0, 0
		c.second(x)
		return c
	})
}

// inParts lets of overwrite the values that it receives.
func inParts(t *Table, workers int, of func(j int, x []float64) ColumnSums) [][]ColumnSums {
	rows := max(leastSumRows, min(mostSumRows, rowsOfBlock(t.D)))
	made := make([][]ColumnSums, (t.N+rows-1)/rows)
	err := panics.Each(context.Background(), workers, len(made), func() (func(context.Context, int) error, error) {
		x := make([]float64, 0, min(rows, t.N))
		return func(_ context.Context, p int) error {
			made[p] = make([]ColumnSums, t.D)
			for j := range t.D {
				x = appendColumn(x[:0], t, j, p*rows, min((p+1)*rows, t.N))
				made[p][j] = of(j, x)
			}
			return nil
		}, nil
	}, nil)
	if err != nil {
		panic(err)
	}
	return made
}

// EachColumn visits the observed values of every column once, in row order. Each worker calls its
// own visit, whose values are valid until visit returns.
func EachColumn(t *Table, workers int, newVisit func() func(j int, values []float64)) error {
	return panics.Each(context.Background(), workers, t.D, func() (func(context.Context, int) error, error) {
		visit, values := newVisit(), make([]float64, 0, t.N)
		return func(_ context.Context, j int) error {
			visit(j, t.AppendColumn(values, j))
			return nil
		}, nil
	}, nil)
}
