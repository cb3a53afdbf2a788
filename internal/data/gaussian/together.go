package gaussian

import (
	"cmp"
	"slices"

	"missingscore/internal/simd"
)

// together inverts blocks of one matrix eight at a time in vector lanes (simd.Inverses).
type together struct {
	d        int
	of       simd.Inverses
	patterns []int     // noted for inversion
	lower    []float64 // (d, d): lower triangle of the weighted sum of inverses
	from, to []float64 // a row of each pattern before and after its inverse
	blocks   [][]int   // of a group: the columns of each pattern
	weights  []float64
}

const (
	leastTogether = 8   // minimum number of columns
	mostTogether  = 128 // maximum number of columns: larger groups exceed the cache
)

// takes notes a block for joint inversion if its number of columns is suitable.
func (t *together) takes(columns, pattern int) bool {
	if !simd.InvertsTogether() || columns < leastTogether || columns > mostTogether {
		return false
	}
	t.patterns = append(t.patterns, pattern)
	return true
}

// finish inverts the noted blocks, applies them as s says, and clears the list.
func (t *together) finish(patterns []rowPattern, s side) error {
	if len(t.patterns) == 0 {
		return nil
	}
	t.lower = room(t.lower, t.d*t.d)
	clear(t.lower)
	size := func(k int) int { return len(s.block(&patterns[k])) }
	slices.SortStableFunc(t.patterns, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	for group := range slices.Chunk(t.patterns, simd.Together) {
		t.blocks, t.weights = t.blocks[:0], t.weights[:0]
		for _, k := range group {
			t.blocks, t.weights = append(t.blocks, s.block(&patterns[k])), append(t.weights, patterns[k].share)
		}
		t.of.Begin(size(group[len(group)-1]))
		t.of.Take(s.matrix, t.d, t.blocks)
		t.of.Invert()
		for l, k := range group {
			logDet, ok := t.of.LogDet(l)
			if !ok {
				return ErrNotPositiveDefinite
			}
			s.density(&patterns[k], logDet)
		}
		t.of.Add(t.lower, t.d, t.blocks, t.weights)
		t.apply(patterns, group, s)
	}
	t.patterns = t.patterns[:0]
	for j := range t.d {
		for k, v := range t.lower[j*t.d : j*t.d+j] {
			s.sum[j*t.d+k] -= s.sign * v
			s.sum[k*t.d+j] -= s.sign * v
		}
		s.sum[j*t.d+j] -= s.sign * t.lower[j*t.d+j]
	}
	return nil
}

// apply applies a group's inverses: the first row of each pattern together, then the second, ….
func (t *together) apply(patterns []rowPattern, group []int, s side) {
	t.from, t.to = room(t.from, t.of.Room()), room(t.to, t.of.Room())
	for number, more := 0, true; more; number++ {
		clear(t.from)
		more = false
		for l, k := range group {
			if q := &patterns[k]; number < q.last-q.first {
				px := s.rows.px[(q.row+number)*t.d:][:t.d]
				for a, j := range s.block(q) {
					t.from[a*simd.Together+l] = px[j]
				}
			}
		}
		t.of.Apply(t.from, t.to)
		for l, k := range group {
			q := &patterns[k]
			if number < q.last-q.first {
				x := s.rows.x[(q.row+number)*t.d:][:t.d]
				for a, j := range s.block(q) {
					x[j] = -s.sign * t.to[a*simd.Together+l]
				}
			}
			more = more || number+1 < q.last-q.first
		}
	}
}
