package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Algebra holds dense matrix routines. Matrices are row-major.
type Algebra struct {
	Multiply func(ta, tb bool, m, n, k int, a, b, c []float64) // c (m, n) = op(a) op(b), inner size k
	Factor   func(a []float64, n, stride int) (ok bool)        // A = LLᵀ: L overwrites A's lower triangle
	Invert   func(a []float64, n, stride int) (ok bool)        // A⁻¹ overwrites L, lower triangle
}

var Gonum = Algebra{
	Multiply: func(ta, tb bool, m, n, k int, a, b, c []float64) {
		op := func(turned bool, rows, cols int, x []float64) (blas.Transpose, blas64.General) {
			if turned {
				return blas.Trans, blas64.General{Rows: cols, Cols: rows, Stride: rows, Data: x}
			}
			return blas.NoTrans, blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: x}
		}
		left, x := op(ta, m, k, a)
		right, y := op(tb, k, n, b)
		blas64.Gemm(left, right, 1, x, y, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: c})
	},
	Factor: func(a []float64, n, stride int) (ok bool) {
		_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: stride, Data: a})
		return ok
	},
	Invert: func(a []float64, n, stride int) (ok bool) {
		_, ok = lapack64.Potri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: stride, Data: a})
		return ok
	},
}

// inverse fills a (m, m) with the inverse of the block p[at, at] of a matrix (d, d), from its lower
// triangle, and returns the block's log determinant. ok is false if it is not positive definite.
func (r Algebra) inverse(a, p []float64, d int, at []int) (logDet float64, ok bool) {
	n := len(at)
	for i, j := range at {
		row, from := a[i*n:i*n+i+1], p[j*d:j*d+d]
		for b := range row {
			row[b] = from[at[b]]
		}
	}
	switch n {
	case 0:
		return 0, true
	case 1:
		return inverseOfOne(a)
	case 2:
		return inverseOfTwo(a)
	}
	if !r.Factor(a, n, n) {
		return 0, false
	}
	product := 1.0 // of L's diagonal: one logarithm for ten products
	for i := range n {
		if product *= a[i*n+i]; product < 1e-100 || product > 1e100 {
			logDet, product = logDet+2*math.Log(product), 1
		}
	}
	r.Invert(a, n, n)
	mirror(a, n)
	return logDet + 2*math.Log(product), true
}

// Most rows of a table lack one or two cells at most.
func inverseOfOne(a []float64) (logDet float64, ok bool) {
	if !(a[0] > 0) {
		return 0, false
	}
	l := math.Sqrt(a[0])
	v := 1 / l
	a[0] = v * v
	return 2 * math.Log(l), true
}

func inverseOfTwo(a []float64) (logDet float64, ok bool) {
	if !(a[0] > 0) {
		return 0, false
	}
	l := math.Sqrt(a[0])
	below := a[2] * (1 / l)
	rest := a[3] - below*below
	if !(rest > 0) {
		return 0, false
	}
	m := math.Sqrt(rest)
	v, w := 1/l, 1/m
	off := -v * (w * below)
	a[0], a[1], a[2], a[3] = v*v+off*off, w*off, w*off, w*w
	return 2 * math.Log(l*m), true
}

func mirror(a []float64, n int) {
	for i := range n {
		for j, v := range a[i*n : i*n+i] {
			a[j*n+i] = v
		}
	}
}

// blocks inverts blocks P_mm of one precision P. With a sparse P, the columns m split into
// connected components (docs/theory/gaussian.md#eq-sparse-blocks).
type blocks struct {
	Algebra
	d     int
	p     []float64
	first []int   // of each column among links; nil: P is dense
	links []int32 // of each column, the others with nonzero P
	ones  []one   // of each column, if P is sparse

	parts   []part    // of the last block
	numbers []float64 // their inverses
	at      []int     // their columns
	in      []bool    // of each column: in the block and not yet in a component
	starts  []int
}

// one is a block of one column.
type one struct {
	inverse, logDet float64
	ok              bool
}

// part holds the columns of a component and its inverse, (m, m).
type part struct {
	at    []int
	block []float64
}

const (
	leastJoined     = 1.0  // expected neighbours in a random block, above which one component dominates
	leastSplit      = 4    // minimum number of columns to split a block
	leastMultiplied = 16   // minimum columns of a part for products by Algebra
	sparseProduct   = 0.05 // maximum nonzero share of P for products by its links
	sparsePrecision = 0.4  // maximum nonzero share of pairs to look for components
)

func newBlocks(d int, r Algebra) *blocks {
	return &blocks{Algebra: r, d: d, in: make([]bool, d), starts: make([]int, d+1)}
}

// prepare takes P (d, d), which must not change until the next call.
func (c *blocks) prepare(p []float64) {
	d := c.d
	c.p, c.first, c.links, c.ones = p, c.starts, c.links[:0], c.ones[:0]
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
		a := [1]float64{p[j*d+j]}
		logDet, ok := inverseOfOne(a[:])
		c.ones = append(c.ones, one{a[0], logDet, ok})
	}
}

func (c *blocks) scatters(columns int) bool {
	return c.first != nil && float64(len(c.links))*float64(columns) < leastJoined*float64(c.d*c.d)
}

func (c *blocks) of(j int) []int32 { return c.links[c.first[j]:c.first[j+1]] }

// invert sets parts to the inverse of the block of increasing columns at.
func (c *blocks) invert(at []int) (logDet float64, ok bool) {
	m := len(at)
	c.parts, c.at, c.numbers = c.parts[:0], room(c.at, m)[:0], room(c.numbers, m*m)[:0]
	if c.first == nil || m < leastSplit {
		c.at = append(c.at, at...)
		return c.add(0)
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
			var of float64
			of, ok = c.add(from)
			logDet += of
		}
	}
	return logDet, ok
}

func (c *blocks) component(j int) {
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
	if len(c.at) > from+1 {
		slices.Sort(c.at[from:])
	}
}

func (c *blocks) add(from int) (logDet float64, ok bool) {
	at, start := c.at[from:], len(c.numbers)
	c.numbers = c.numbers[:start+len(at)*len(at)]
	q := part{at, c.numbers[start:]}
	c.parts = append(c.parts, q)
	if c.first != nil && len(at) == 1 {
		of := c.ones[at[0]]
		q.block[0] = of.inverse
		return of.logDet, of.ok
	}
	return c.inverse(q.block, c.p, c.d, at)
}

func (c *blocks) addTo(sum []float64, weight float64) {
	for _, q := range c.parts {
		q.addTo(sum, c.d, weight)
	}
}

// times sets to to the inverse times from, both (m, m) in the order of at.
func (c *blocks) times(from, to []float64) {
	m, first := len(c.at), 0
	for _, q := range c.parts {
		n := len(q.at)
		rows, result := from[first*m:(first+n)*m], to[first*m:(first+n)*m]
		first += n
		if n >= leastMultiplied {
			c.Multiply(false, false, n, m, n, q.block, rows, result)
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

// apply sets the part's elements of to (d) to sign times the inverse times the part of from.
func (q part) apply(from, to []float64, sign float64, given []float64) {
	m := len(q.at)
	if m == 1 {
		to[q.at[0]] = sign * (q.block[0] * from[q.at[0]])
		return
	}
	for a, j := range q.at {
		given[a] = from[j]
	}
	for a, j := range q.at {
		to[j] = sign * floats.Dot(q.block[a*m:a*m+m], given[:m])
	}
}

func (q part) addTo(sum []float64, d int, weight float64) {
	m := len(q.at)
	if m == 1 {
		sum[q.at[0]*(d+1)] += weight * q.block[0]
		return
	}
	for a, j := range q.at {
		row := sum[j*d : j*d+d]
		for b, v := range q.block[a*m : a*m+m] {
			row[q.at[b]] += weight * v
		}
	}
}

// products sets px to xP for n rows x, (n, d).
func (c *blocks) products(n int, x, px []float64) {
	d := c.d
	if c.first == nil || len(c.links) > int(sparseProduct*float64(d*d)) {
		c.Multiply(false, false, n, d, d, x, c.p, px)
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

// exceeds compares the costs of a pattern's missing and observed block. With ℓ links per column of
// a sparse P, the missing block counts as ℓ/(ℓ + 8) of its columns.
func (c *blocks) exceeds(seen, gaps int) bool {
	size := float64(gaps)
	if c.first != nil {
		links := float64(len(c.links)) / float64(c.d) * float64(gaps) / float64(c.d)
		size *= links / (links + 8)
	}
	return float64(seen) < size
}
