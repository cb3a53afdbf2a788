package moments

import "slices"

// pattern holds the rows with the same k observed columns: at most k + 1 are stored, others summed.
type pattern struct {
	key    string
	places []int // indices of the observed columns
	n      int
	rows   []float64 // (…, k): rows not yet in the sums
	sums   *sums     // of the k centred columns and a column of ones; nil: rows only
}

const flushRows = 64

func newPattern(key string) *pattern {
	p := &pattern{key: key}
	for j := range key {
		if key[j] == '1' {
			p.places = append(p.places, j)
		}
	}
	return p
}

func (p *pattern) few(n int) bool { return n <= len(p.places)+1 }

func (p *pattern) full() bool {
	k := len(p.places)
	return len(p.rows) >= k*max(flushRows, k+2)
}

func (p *pattern) flush(m *Moments) {
	k := len(p.places)
	if p.sums == nil {
		p.sums = newSums(k + 1)
		m.held += len(p.sums.sum)
	}
	var rows []float64
	for at := 0; at < len(p.rows); at += k {
		for a, j := range p.places {
			rows = append(rows, p.rows[at+a]-m.origin[j])
		}
		rows = append(rows, 1)
	}
	p.sums.addRows(rows)
	p.rows = p.rows[:0]
}

func (p *pattern) moved(s *sums, by []float64) *sums {
	k := len(p.places)
	own := make([]float64, k+1)
	for a, j := range p.places {
		own[a] = by[j]
	}
	return s.moved(own, func(int) int { return k })
}

// merge adds the rows of the same pattern of another Moments, whose origin exceeds m's by by.
func (p *pattern) merge(q *pattern, by []float64, m *Moments) {
	p.n += q.n
	if q.sums != nil {
		moved := q.moved(q.sums, by)
		if p.sums != nil {
			moved.merge(p.sums)
		} else {
			m.held += len(moved.sum)
		}
		p.sums = moved
	}
	if p.rows = append(p.rows, q.rows...); p.sums != nil && len(p.rows) > 0 || p.full() {
		p.flush(m)
	}
}

// reduced returns the key of the pattern restricted to columns, and the indices of these.
func (p *pattern) reduced(columns []int) (string, []int) {
	key := make([]byte, len(columns))
	var places []int
	for i, j := range columns {
		key[i] = p.key[j]
		if a, seen := slices.BinarySearch(p.places, j); seen {
			places = append(places, a)
		}
	}
	return string(key), places
}

func (p *pattern) of(key string, places []int) *pattern {
	q, k := newPattern(key), len(p.places)
	q.n = p.n
	for at := 0; at < len(p.rows); at += k {
		for _, a := range places {
			q.rows = append(q.rows, p.rows[at+a])
		}
	}
	if p.sums != nil {
		q.sums = newSums(len(places) + 1)
		with := append(slices.Clone(places), k)
		for a, i := 0, 0; a < len(with); a++ {
			for b := a; b < len(with); b++ {
				q.sums.sum[i] = p.sums.at(with[a], with[b])
				i++
			}
		}
	}
	return q
}
