package data

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/internal/panics"
)

// ColumnSums summarises a column's observed values. The zero value is of no values.
type ColumnSums struct {
	Number          int
	Low, High       float64
	Mean, Deviation float64 // weighted if the table is; the standard deviation has divisor n
	RootMeanSquare  float64

	weight float64 // Σ w_i
}

// SumColumns returns the sums of each column, with workers in parallel.
func SumColumns(t *Table, workers int) []ColumnSums {
	sums := make([]ColumnSums, t.D)
	err := EachColumn(t, workers, func() func(int, []float64) {
		return func(j int, x []float64) {
			if len(x) == 0 {
				return
			}
			n := float64(len(x))
			c := ColumnSums{Number: len(x), Low: floats.Min(x), High: floats.Max(x), RootMeanSquare: floats.Norm(x, 2) / math.Sqrt(n), weight: n}
			weights := t.ColumnWeights(j)
			if weights != nil {
				c.weight = floats.Sum(weights)
				c.RootMeanSquare = math.Sqrt(squares(x, weights) / c.weight)
			}
			c.Mean = stat.Mean(x, weights)
			floats.AddConst(-c.Mean, x)
			rest := stat.Mean(x, weights) // rounding error of the mean
			c.Deviation = math.Sqrt(max(squares(x, weights)/c.weight-rest*rest, 0))
			sums[j] = c
		}
	})
	if err != nil {
		panic(err)
	}
	return sums
}

func squares(x, weights []float64) (sum float64) {
	for i, v := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum += w * v * v
	}
	return sum
}

func columnSums(t *Table) []ColumnSums { return SumColumns(t, runtime.GOMAXPROCS(0)) }

// Merge adds the sums of other values (Chan et al. 1979).
func (c *ColumnSums) Merge(o ColumnSums) {
	if c.Number == 0 || o.Number == 0 {
		if c.Number == 0 {
			*c = o
		}
		return
	}
	all := c.weight + o.weight
	share, other, gap := c.weight/all, o.weight/all, o.Mean-c.Mean
	size := func(a, b float64) float64 { return math.Hypot(math.Sqrt(share)*a, math.Sqrt(other)*b) }
	*c = ColumnSums{Number: c.Number + o.Number, Low: min(c.Low, o.Low), High: max(c.High, o.High), weight: all,
		Mean:           c.Mean + other*gap,
		Deviation:      math.Hypot(size(c.Deviation, o.Deviation), math.Sqrt(share*other)*gap),
		RootMeanSquare: size(c.RootMeanSquare, o.RootMeanSquare)}
}

// Fault returns a *ColumnError if the column cannot be standardised, else nil.
func (c ColumnSums) Fault(name string) error {
	switch {
	case c.Number == 0:
		return &ColumnError{name, "no observed value"}
	case c.Low == c.High:
		return &ColumnError{name, fmt.Sprintf("constant, every observed value is %g", c.Low)}
	case !(c.Deviation >= SmallestDeviation):
		return &ColumnError{name, fmt.Sprintf("its values vary too little (standard deviation %.2g, less than %g): rescale it", c.Deviation, SmallestDeviation)}
	}
	return nil
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
