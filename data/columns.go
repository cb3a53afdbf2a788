package data

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/internal/panics"
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
	if c.wide() {
		return nil
	}
	if _, deviation := c.MeanDeviation(); deviation < SmallestDeviation {
		return &ColumnError{name, fmt.Sprintf("its values differ too little (standard deviation %.2g, less than %g): give it another unit", deviation, SmallestDeviation)}
	}
	return nil
}

// wide says that the range shows that the standard deviation, at least range/√(2n), is large enough.
func (c *ColumnSums) wide() bool {
	return c.High-c.Low > SmallestDeviation*math.Sqrt(2*float64(c.Number))
}

// columnRanges are number and range of the observed values of each column, and columnSums where these
// do not show that every column can be standardised.
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

// Rows that are summed at a time: few enough for a column to stay in the processor's cache, and many
// enough for their sums to be small beside them.
const (
	mostSumRows  = 1 << 13
	leastSumRows = 1 << 9
)

// columnSums are those of the observed values of each column. Parts of the rows are summed side
// by side and put together in their order, so that the sums do not depend on the processors.
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

// FirstSums are the first pass's sums of the columns' observed values, by parts of the rows, in
// their order. The blocks of a file are made of whole parts, where it has up to 512 columns and values
// in every line: a table's sums are then those of its blocks, to the last digit.
func FirstSums(t *Table, workers int) [][]ColumnSums {
	return inParts(t, workers, func(_ int, x []float64) (c ColumnSums) {
		c.First(x)
		return c
	})
}

// SecondSums are the second pass's, by the same parts, where first has seen all rows.
func SecondSums(t *Table, first []ColumnSums, workers int) [][]ColumnSums {
	return inParts(t, workers, func(j int, x []float64) ColumnSums {
		c := first[j]
		c.rest, c.square = 0, 0
		c.Second(x)
		return c
	})
}

// inParts is what of makes of each column's observed values in each part of the rows. It may change the values.
func inParts(t *Table, workers int, of func(j int, x []float64) ColumnSums) [][]ColumnSums {
	rows := max(leastSumRows, min(mostSumRows, rowsOfBlock(t.D)))
	made := make([][]ColumnSums, (t.N+rows-1)/rows)
	workers = max(1, min(workers, len(made)))
	pool := panics.NewGroup()
	for w := range workers {
		pool.Go(func() error {
			x := make([]float64, 0, min(rows, t.N))
			for p := w; p < len(made); p += workers {
				made[p] = make([]ColumnSums, t.D)
				for j := range t.D {
					x = appendColumn(x[:0], t, j, p*rows, min((p+1)*rows, t.N))
					made[p][j] = of(j, x)
				}
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
	return made
}

// sideBySide columns are read in one sweep over the rows: a row's neighbouring cells lie in the same line of the
// processor's cache. Fewer, where those of all workers are longer than sweepNumbers together.
const (
	sideBySide   = 4
	sweepNumbers = 1 << 22
)

// EachColumn visits the observed values of every column, in the order of the rows, once. Each worker has a visit
// of its own; values are another column's as soon as visit returns. The error is that of a panic.
func EachColumn(t *Table, workers int, newVisit func() func(j int, values []float64)) error {
	workers = max(1, min(workers, (t.D+sideBySide-1)/sideBySide))
	side := max(1, min(sideBySide, sweepNumbers/max(1, t.N*workers)))
	tiles := (t.D + side - 1) / side
	pool := panics.NewGroup()
	for w := range workers {
		pool.Go(func() error {
			visit := newVisit()
			var values [sideBySide][]float64
			for tile := w; tile < tiles; tile += workers {
				first := tile * side
				wide := min(side, t.D-first)
				appendColumns(&values, t, first, wide)
				for k, v := range values[:wide] {
					visit(first+k, v)
				}
			}
			return nil
		})
	}
	return pool.Wait()
}

func appendColumns(values *[sideBySide][]float64, t *Table, first, wide int) {
	for k := range wide {
		if cap(values[k]) < t.N {
			values[k] = make([]float64, 0, t.N)
		}
		values[k] = values[k][:0]
	}
	for at := first; at < len(t.Values); at += t.D {
		for k, seen := range t.Observed[at : at+wide] {
			if seen {
				values[k] = append(values[k], t.Values[at+k])
			}
		}
	}
}
