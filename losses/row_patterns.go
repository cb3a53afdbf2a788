package losses

import "slices"

// RowPatterns are rows of some weight, those with the same cells missing together. What they
// hold of an expectation step is that of the last one.
type RowPatterns struct {
	d        int
	order    []int        // rows sorted by pattern
	patterns []rowPattern // in order
	blocks   []int        // their columns, missing and observed, one after the other
}

// rowPattern is a pattern of missing cells: its rows in order, from the first to before the
// last, its missing and observed columns, and where its rows are among those completed by
// either.
type rowPattern struct {
	first, last int
	gaps, seen  []int
	byCells     bool
	row         int
	share       float64 // weight of the rows
}

// FindPatterns finds those of rows (n, d) whose cells mask tells apart, 0 for a missing one.
func FindPatterns(mask, weight []float64) *RowPatterns {
	p := new(RowPatterns)
	p.find(mask, weight)
	return p
}

// find sorts the rows of some weight by their patterns.
func (r *RowPatterns) find(mask, weight []float64) {
	r.d = len(mask) / len(weight)
	r.order, r.patterns = r.order[:0], r.patterns[:0]
	for i, w := range weight {
		if w != 0 {
			r.order = append(r.order, i)
		}
	}
	r.sort(mask)
	pattern := func(k int) []float64 { return mask[r.order[k]*r.d : r.order[k]*r.d+r.d] }
	number := 0
	for at := range r.order {
		if at == 0 || !slices.Equal(pattern(at), pattern(at-1)) {
			number++
		}
	}
	r.blocks = room(r.blocks, number*r.d)[:0]
	for at := 0; at < len(r.order); {
		q := rowPattern{first: at, last: at + 1}
		for q.last < len(r.order) && slices.Equal(pattern(q.last), pattern(at)) {
			q.last++
		}
		from := len(r.blocks)
		for j, o := range pattern(at) {
			if o == 0 {
				r.blocks = append(r.blocks, j)
			}
		}
		cut := len(r.blocks)
		for j, o := range pattern(at) {
			if o != 0 {
				r.blocks = append(r.blocks, j)
			}
		}
		q.gaps, q.seen = r.blocks[from:cut], r.blocks[cut:]
		r.patterns = append(r.patterns, q)
		at = q.last
	}
}

// sort puts the rows of order into that of their patterns, of one pattern as they were. Rows
// that come in the opposite order, as those of a path do, need no comparisons but of neighbours.
func (r *RowPatterns) sort(mask []float64) {
	pattern := func(i int) []float64 { return mask[i*r.d : i*r.d+r.d] }
	var starts []int // of the patterns' rows
	for at, i := range r.order {
		before := 1
		if at > 0 {
			before = slices.Compare(pattern(r.order[at-1]), pattern(i))
		}
		if before < 0 {
			slices.SortStableFunc(r.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })
			return
		}
		if before > 0 {
			starts = append(starts, at)
		}
	}
	end, turned := len(r.order), make([]int, 0, len(r.order))
	for _, start := range slices.Backward(starts) {
		turned = append(turned, r.order[start:end]...)
		end = start
	}
	r.order = turned
}
