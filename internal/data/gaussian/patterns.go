package gaussian

import "slices"

// RowPatterns groups the rows of positive weight by missing cells, with numbers of the last step.
type RowPatterns struct {
	d        int
	order    []int        // rows sorted by pattern
	patterns []rowPattern // in that order
	columns  []int        // missing and observed columns of each pattern
}

type rowPattern struct {
	first, last int
	gaps, seen  []int // columns
	byCells     bool  // uses the observed block
	row         int   // index of its first row among rows completed the same way
	share       float64
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
	r.columns = room(r.columns, number*r.d)
	for k := range r.patterns {
		q, own := &r.patterns[k], r.columns[k*r.d:(k+1)*r.d]
		missing, end := 0, r.d
		for j, seen := range pattern(r.order[q.first]) {
			if seen == 0 {
				own[missing] = j
				missing++
			}
		}
		for j, seen := range slices.Backward(pattern(r.order[q.first])) {
			if seen != 0 {
				end--
				own[end] = j
			}
		}
		q.gaps, q.seen = own[:missing], own[missing:]
	}
}

func room[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
