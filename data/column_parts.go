package data

import (
	"runtime"

	"missingscore/internal/panics"
)

// Rows that are summed at a time: few enough for a column to stay in the processor's cache, and many
// enough for their sums to be small beside them.
const (
	mostSumRows  = 1 << 13
	leastSumRows = 1 << 9
)

// columnSums are those of the observed values of each column. Parts of the rows are summed side
// by side and put together in their order, so that the sums do not depend on the processors.
func (t *Table) columnSums() []ColumnSums {
	sums := make([]ColumnSums, t.D)
	for _, part := range t.FirstSums(runtime.GOMAXPROCS(0)) {
		for j := range sums {
			sums[j].Firsts(part[j])
		}
	}
	for _, part := range t.SecondSums(sums, runtime.GOMAXPROCS(0)) {
		for j := range sums {
			sums[j].Seconds(part[j])
		}
	}
	return sums
}

// FirstSums are the first pass's sums of the columns' observed values, by parts of the rows, in
// their order. The blocks of a file are made of whole parts, where it has up to 512 columns and values
// in every line: a table's sums are then those of its blocks, to the last digit.
func (t *Table) FirstSums(workers int) [][]ColumnSums {
	return t.inParts(workers, func(_ int, x []float64) (c ColumnSums) {
		c.First(x)
		return c
	})
}

// SecondSums are the second pass's, by the same parts, where first has seen all rows.
func (t *Table) SecondSums(first []ColumnSums, workers int) [][]ColumnSums {
	return t.inParts(workers, func(j int, x []float64) ColumnSums {
		c := first[j]
		c.Restart()
		c.Second(x)
		return c
	})
}

// inParts is what of makes of each column's observed values in each part of the rows. It may
// change the values.
func (t *Table) inParts(workers int, of func(j int, x []float64) ColumnSums) [][]ColumnSums {
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
					x = t.appendColumn(x[:0], j, p*rows, min((p+1)*rows, t.N))
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

// appendColumn appends the observed values of column j in rows from first to before last.
func (t *Table) appendColumn(dst []float64, j, first, last int) []float64 {
	for k := first*t.D + j; k < last*t.D; k += t.D {
		if t.Observed[k] {
			dst = append(dst, t.Values[k])
		}
	}
	return dst
}
