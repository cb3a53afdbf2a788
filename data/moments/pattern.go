package moments

import (
	"cmp"
	"math"
	"slices"

	"missingscore/internal/exactsum"
)

// pattern are the rows that have the same k columns observed. No more than k + 1 of them are
// kept as they are, for their sums would take more room; of more there are sums.
type pattern struct {
	key    string
	places []int // the observed columns
	n      int
	rows   []float64          // (…, k): those that are not in the sums
	sums   *exactsum.Products // of the k columns and one of ones; nil: there are rows alone
}

// flushRows are taken into the sums at a time.
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

// add takes a row, which has all columns.
func (p *pattern) add(x []float64) {
	for _, j := range p.places {
		p.rows = append(p.rows, x[j])
	}
	p.n++
}

// few tells whether so many rows are kept as they are.
func (p *pattern) few(n int) bool { return n <= len(p.places)+1 }

// full tells whether the rows are to go to the sums.
func (p *pattern) full() bool {
	k := len(p.places)
	return len(p.rows) >= k*max(flushRows, k+2)
}

// flush takes the rows into the sums.
func (p *pattern) flush(m *Moments) {
	k, first := len(p.places), p.sums == nil
	if first {
		p.sums = exactsum.New(k + 1)
	}
	columns := m.room(k + 1)
	for at := 0; at < len(p.rows); at += k {
		for a, x := range p.rows[at : at+k] {
			columns[a].Append(x)
		}
		columns[k].Append(1)
	}
	p.sums.Add(columns)
	p.rows = p.rows[:0]
	if first {
		m.bytes += p.sums.Bytes()
	}
}

// settle makes a pattern what it is of its rows, in whatever order and parts they came: sums,
// or rows in order.
func (p *pattern) settle(m *Moments) {
	if !p.few(p.n) {
		if len(p.rows) > 0 {
			p.flush(m)
		}
		p.rows = nil
		return
	}
	k := len(p.places)
	var rows [][]float64
	for at := 0; at < len(p.rows); at += k {
		rows = append(rows, p.rows[at:at+k])
	}
	slices.SortFunc(rows, func(a, b []float64) int {
		return slices.CompareFunc(a, b, func(x, y float64) int {
			return cmp.Or(cmp.Compare(x, y), -cmp.Compare(math.Float64bits(x), math.Float64bits(y))) // −0 before 0
		})
	})
	p.rows = slices.Concat(rows...)
}

// merge takes the rows of another of the same pattern.
func (p *pattern) merge(q *pattern, m *Moments) {
	p.n += q.n
	if q.sums != nil {
		if p.sums == nil {
			p.sums = exactsum.New(len(p.places) + 1)
		}
		p.sums.Merge(q.sums)
	}
	if p.rows = append(p.rows, q.rows...); p.sums != nil && len(p.rows) > 0 || p.full() {
		p.flush(m)
	}
}

// reduced is the key of the pattern among some columns, and of those it has their places
// among its own, in the order of the columns.
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

// of are the rows in some of the pattern's columns.
func (p *pattern) of(key string, places []int) *pattern {
	q, k := newPattern(key), len(p.places)
	q.n = p.n
	for at := 0; at < len(p.rows); at += k {
		for _, a := range places {
			q.rows = append(q.rows, p.rows[at+a])
		}
	}
	if p.sums != nil {
		q.sums = exactsum.New(len(places) + 1)
		with := append(slices.Clone(places), k)
		for a := range with {
			for b := a; b < len(with); b++ {
				q.sums.Put(a, b, p.sums.At(with[a], with[b]))
			}
		}
	}
	return q
}

// sum is Σ x_a of the pattern's column a, product Σ x_a x_b.
func (p *pattern) sum(a int) exactsum.Number { return p.product(a, len(p.places)) }

func (p *pattern) product(a, b int) exactsum.Number {
	if p.sums != nil {
		return p.sums.At(a, b)
	}
	var total exactsum.Number
	k := len(p.places)
	cell := func(at, a int) exactsum.Number {
		if a == k {
			return exactsum.Int(1)
		}
		return exactsum.Of(p.rows[at+a])
	}
	for at := 0; at < len(p.rows); at += k {
		total = total.Plus(cell(at, a).Times(cell(at, b)))
	}
	return total
}
