package gaussian

import "slices"

// RowPatterns groups the rows of positive weight by missing cells, with numbers of the last step.
type RowPatterns struct {
	d        int
	order    []int        // rows sorted by pattern
	patterns []rowPattern // in that order
	columns  []int        // missing, then observed columns of each pattern
}

type rowPattern struct {
	first, last int
	gaps, seen  []int   // missing and observed columns
	row         int     // index of its first row among completed rows
	share       float64 // summed weights
	inverse     inverse // of Marginal
}

// of selects the pattern's rows of completed rows (n, d).
func (q *rowPattern) of(rows []float64, d int) []float64 {
	return rows[q.row*d : (q.row+q.last-q.first)*d]
}

// FindPatterns groups rows (n, d) by mask, 1 for an observed cell and 0 for a missing one.
func FindPatterns(mask, weight []float64) *RowPatterns {
	r := new(RowPatterns)
	r.Find(mask, weight)
	return r
}

// Find does the work of FindPatterns in r's memory.
func (r *RowPatterns) Find(mask, weight []float64) {
	r.d = len(mask) / len(weight)
	r.order, r.patterns = r.order[:0], r.patterns[:0]
	for i, w := range weight {
		if w != 0 {
			r.order = append(r.order, i)
		}
	}
	pattern := func(i int) []float64 { return mask[i*r.d : i*r.d+r.d] }
	slices.SortStableFunc(r.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })
	number := 0
	for at, i := range r.order {
		if at == 0 || !slices.Equal(pattern(i), pattern(r.order[at-1])) {
			r.patterns = append(r.patterns, rowPattern{first: at})
			number++
		}
		r.patterns[number-1].last = at + 1
	}
	r.columns = slices.Grow(r.columns[:0], number*r.d)
	for k := range r.patterns {
		q := &r.patterns[k]
		take := func(value float64) []int {
			from := len(r.columns)
			for j, v := range pattern(r.order[q.first]) {
				if v == value {
					r.columns = append(r.columns, j)
				}
			}
			return r.columns[from:]
		}
		q.gaps, q.seen = take(0), take(1)
	}
}

func room[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
