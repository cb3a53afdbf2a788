package losses

import (
	"cmp"
	"slices"

	"missingscore/internal/simd"
)

// together inverts blocks of one precision eight at a time, each by a number of a vector
// (simd.Inverses): patterns of about the same number of missing cells, whose blocks then take
// little more time than eight times the numbers that they have.
type together struct {
	d        int
	of       simd.Inverses
	patterns []int     // places of those that are inverted so
	lower    []float64 // (d, d): lower triangle of Σ w C
	from, to []float64 // of a row of each pattern: what C is applied to, and the result
}

const (
	// leastTogether is the size from which on blocks are inverted together, mostTogether that up
	// to which: a group of larger ones leaves the caches.
	leastTogether = 8
	mostTogether  = 128
)

// begin prepares for a run.
func (t *together) begin() { t.patterns = t.patterns[:0] }

// takes tells whether a block of so many columns is to be inverted with others.
func (t *together) takes(gaps int) bool {
	return simd.InvertsTogether() && gaps >= leastTogether && gaps <= mostTogether
}

// finish completes the rows of the patterns at the places noted, and adds their inverses to
// second.
func (t *together) finish(c *gaussianMoments) error {
	if len(t.patterns) == 0 {
		return nil
	}
	t.lower = room(t.lower, t.d*t.d)
	clear(t.lower)
	size := func(k int) int { return len(c.rows.patterns[k].gaps) }
	slices.SortStableFunc(t.patterns, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	for group := range slices.Chunk(t.patterns, simd.Together) {
		t.of.Begin(size(group[len(group)-1]))
		for l, k := range group {
			t.of.Take(l, c.p, t.d, c.rows.patterns[k].gaps)
		}
		t.of.Invert()
		for l, k := range group {
			q := &c.rows.patterns[k]
			logDet, ok := t.of.LogDet(l)
			if !ok {
				return ErrNotPositiveDefinite
			}
			c.density(*q, c.logDet-logDet)
			t.of.Add(l, t.lower, t.d, q.gaps, q.share)
		}
		t.complete(c, group)
	}
	for j := range t.d {
		for k, v := range t.lower[j*t.d : j*t.d+j] {
			c.second[j*t.d+k] += v
			c.second[k*t.d+j] += v
		}
		c.second[j*t.d+j] += t.lower[j*t.d+j]
	}
	return nil
}

// complete completes the rows of a group's patterns: the first of each together, then the second.
func (t *together) complete(c *gaussianMoments, group []int) {
	t.from, t.to = room(t.from, t.of.Room()), room(t.to, t.of.Room())
	for number, more := 0, true; more; number++ {
		clear(t.from)
		more = false
		for l, k := range group {
			if q := &c.rows.patterns[k]; number < q.last-q.first {
				px := c.byGaps.px[(q.row+number)*t.d:][:t.d]
				for a, j := range q.gaps {
					t.from[a*simd.Together+l] = px[j]
				}
			}
		}
		t.of.Apply(t.from, t.to)
		for l, k := range group {
			q := &c.rows.patterns[k]
			if number < q.last-q.first {
				x := c.byGaps.x[(q.row+number)*t.d:][:t.d]
				for a, j := range q.gaps {
					x[j] = t.to[a*simd.Together+l]
				}
			}
			more = more || number+1 < q.last-q.first
		}
	}
}
