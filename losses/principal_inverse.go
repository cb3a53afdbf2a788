package losses

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
)

// principalInverse inverts blocks P_mm of one precision that has many zeros, as along a path
// (docs/theory/gaussian.md#eq-sparse-blocks). The columns m fall into the components that P's
// pairs join them to, each with an inverse of its own; a component whose columns have few
// neighbours is inverted by eliminating these columns first (elimination). Other blocks go to
// invert as they are.
type principalInverse struct {
	d     int
	p     []float64
	first []int   // of each column among links; nil: P has few zeros
	links []int32 // of each column, the others where P is not 0

	parts   []inversePart // of the last block
	blocks  []float64     // theirs
	at      []int         // theirs
	place   []int32       // of each column, that of its component while it is looked at, or −1
	in      []bool        // of each column: in the block, and not yet in a component
	byLinks elimination
	noLinks []int
}

// inversePart are columns of a block and the inverse there, (m, m); the inverse is 0 between
// the parts.
type inversePart struct {
	at    []int
	block []float64
}

const (
	leastSplit      = largeBlock // columns from which on a block is split
	leastEliminated = 16         // columns of a component from which on it is worth an elimination
	sparseProduct   = 0.05       // share of P that is not 0 up to which products go by its links
	sparsePrecision = 0.4        // share of the pairs that are not 0 up to which links are looked at
)

func newPrincipalInverse(d int) *principalInverse {
	c := &principalInverse{d: d, place: make([]int32, d), in: make([]bool, d), noLinks: make([]int, d+1)}
	for j := range c.place {
		c.place[j] = -1
	}
	return c
}

// prepare takes P, (d, d), which must not change until the next call.
func (c *principalInverse) prepare(p []float64) {
	d := c.d
	c.p, c.first, c.links = p, c.noLinks, c.links[:0]
	most := int(sparsePrecision * float64(d*(d-1)))
	for j := range d {
		for k, v := range p[j*d : j*d+d] {
			if v != 0 && k != j {
				c.links = append(c.links, int32(k))
			}
		}
		if c.first[j+1] = len(c.links); len(c.links) > most {
			c.first = nil
			return
		}
	}
}

// of are the others where column j has no 0.
func (c *principalInverse) of(j int) []int32 { return c.links[c.first[j]:c.first[j+1]] }

// invert sets parts to the inverse of the block of columns at, in order, and gives the log
// determinant of what it inverts. It is not ok where that is not positive definite.
func (c *principalInverse) invert(at []int) (logDet float64, ok bool) {
	m := len(at)
	c.parts, c.at, c.blocks = c.parts[:0], room(c.at, m)[:0], room(c.blocks, m*m)[:0]
	if c.first == nil || m < leastSplit {
		c.at = append(c.at, at...)
		return c.add(0, false)
	}
	for _, j := range at {
		c.in[j] = true
	}
	ok = true
	for _, j := range at {
		if !c.in[j] {
			continue
		}
		from := len(c.at)
		c.component(j)
		if ok {
			var part float64
			part, ok = c.add(from, len(c.at)-from >= leastEliminated)
			logDet += part
		}
	}
	return logDet, ok
}

// component appends to at the columns of the block that column j is joined to.
func (c *principalInverse) component(j int) {
	from := len(c.at)
	c.at, c.in[j] = append(c.at, j), false
	for next := from; next < len(c.at); next++ {
		for _, k := range c.of(c.at[next]) {
			if c.in[k] {
				c.in[k] = false
				c.at = append(c.at, int(k))
			}
		}
	}
	slices.Sort(c.at[from:])
}

// add inverts the columns that at has from some place on.
func (c *principalInverse) add(from int, eliminates bool) (logDet float64, ok bool) {
	at := c.at[from:]
	m, start := len(at), len(c.blocks)
	c.blocks = c.blocks[:start+m*m]
	q := inversePart{at, c.blocks[start:]}
	c.parts = append(c.parts, q)
	if !eliminates {
		return invert(q.block, c.p, c.d, at)
	}
	e := &c.byLinks
	e.begin(m)
	c.within(at, func(a, b int, _ float64) { e.join(a, b) })
	e.order(at)
	if e.core == m {
		return invert(q.block, c.p, c.d, at)
	}
	clear(q.block)
	for a, j := range at {
		q.block[a*m+a] = c.p[j*c.d+j]
	}
	c.within(at, func(a, b int, v float64) { q.block[a*m+b] = v })
	return e.invert(q.block)
}

// within visits the elements of P between columns at that are not 0, a and b their places.
func (c *principalInverse) within(at []int, visit func(a, b int, v float64)) {
	for a, j := range at {
		c.place[j] = int32(a)
	}
	for a, j := range at {
		for _, k := range c.of(j) {
			if b := c.place[k]; b >= 0 {
				visit(a, int(b), c.p[j*c.d+int(k)])
			}
		}
	}
	for _, j := range at {
		c.place[j] = -1
	}
}

// apply sets the parts' elements of to, (d), to sign times the inverse times those of from.
func (c *principalInverse) apply(from, to []float64, sign float64, given []float64) {
	for _, q := range c.parts {
		q.apply(from, to, sign, given)
	}
}

// addTo adds the inverse, times a weight, to sum, (d, d).
func (c *principalInverse) addTo(sum []float64, weight float64) {
	for _, q := range c.parts {
		q.addTo(sum, c.d, weight)
	}
}

// times sets to to the inverse times from, both (m, m) in the order of at.
func (c *principalInverse) times(gemm graph.Product[float64], from, to []float64) {
	m, first := len(c.at), 0
	for _, q := range c.parts {
		n := len(q.at)
		rows, result := from[first*m:(first+n)*m], to[first*m:(first+n)*m]
		first += n
		if n >= leastEliminated {
			gemm(false, false, n, m, n, q.block, rows, result)
			continue
		}
		clear(result)
		for a := range n {
			for b, v := range q.block[a*n : a*n+n] {
				floats.AddScaled(result[a*m:a*m+m], v, rows[b*m:b*m+m])
			}
		}
	}
}

// apply is principalInverse.apply of a part; given is work space.
func (q inversePart) apply(from, to []float64, sign float64, given []float64) {
	m := len(q.at)
	for a, j := range q.at {
		given[a] = from[j]
	}
	for a, j := range q.at {
		to[j] = sign * floats.Dot(q.block[a*m:a*m+m], given[:m])
	}
}

func (q inversePart) addTo(sum []float64, d int, weight float64) {
	m := len(q.at)
	for a, j := range q.at {
		row := sum[j*d : j*d+d]
		for b, v := range q.block[a*m : a*m+m] {
			row[q.at[b]] += weight * v
		}
	}
}

// products sets px to x P for n rows x, (n, d).
func (c *principalInverse) products(gemm graph.Product[float64], n int, x, px []float64) {
	d := c.d
	if c.first == nil || len(c.links) > int(sparseProduct*float64(d*d)) {
		gemm(false, false, n, d, d, x, c.p, px)
		return
	}
	for i := range n {
		from, to := x[i*d:i*d+d], px[i*d:i*d+d]
		for j := range to {
			sum := c.p[j*d+j] * from[j]
			for _, k := range c.of(j) {
				sum += c.p[j*d+int(k)] * from[k]
			}
			to[j] = sum
		}
	}
}

// exceeds tells whether a pattern's missing block takes more work than its observed one. Of
// a block of P whose columns have ℓ neighbours each, about ℓ/(ℓ + 8) are left as the core of
// an elimination.
func (c *principalInverse) exceeds(seen, gaps int) bool {
	core := float64(gaps)
	if c.first != nil {
		links := float64(len(c.links)) / float64(c.d) * float64(gaps) / float64(c.d)
		core *= links / (links + 8)
	}
	return float64(seen) < core
}
