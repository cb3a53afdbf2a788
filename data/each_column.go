package data

import (
	"missingscore/internal/panics"
)

// sideBySide columns are read in one sweep over the rows: a row's neighbouring cells lie in
// the same line of the processor's cache. Fewer, where those of all workers are longer than
// sweepNumbers together.
const (
	sideBySide   = 4
	sweepNumbers = 1 << 22
)

// EachColumn visits the observed values of every column, in the order of the rows, once.
// Each worker has a visit of its own; values are another column's as soon as visit returns.
// The error is that of a panic.
func (t *Table) EachColumn(workers int, newVisit func() func(j int, values []float64)) error {
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
				t.appendColumns(&values, first, wide)
				for k, v := range values[:wide] {
					visit(first+k, v)
				}
			}
			return nil
		})
	}
	return pool.Wait()
}

// appendColumns sets values to the observed ones of columns side by side.
func (t *Table) appendColumns(values *[sideBySide][]float64, first, wide int) {
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
