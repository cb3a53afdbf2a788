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
// triangle, and adds its determinant; work has room for m numbers. ok is false if the block is not
// positive definite.
func (r Algebra) inverse(a, p []float64, d int, at []int, work []float64, det *determinant) (ok bool) {
	n := len(at)
	for i, j := range at {
		row, from := a[i*n:i*n+i+1], p[j*d:j*d+d]
		for b := range row {
			row[b] = from[at[b]]
		}
	}
	if n <= mostSwept {
		return sweep(a, work[:n], det)
	}
	if !r.Factor(a, n, n) {
		return false
	}
	for i := range n {
		det.add(a[i*n+i] * a[i*n+i])
	}
	r.Invert(a, n, n)
	mirror(a, n)
	return true
}

// mostSwept is the largest size at which sweep is faster than Algebra.
const mostSwept = 20

// sweep replaces a matrix (n, n), of which it reads the lower triangle, by its inverse (Goodnight
// 1979). With b (n) the column k, which it overwrites, pivot k makes
//
//	a_ij ← a_ij − b_i b_j / b_k,   a_kj ← b_j / b_k,   a_kk ← −1 / b_k
//
// after which A is −A⁻¹. ok is false if A is not positive definite.
func sweep(a, b []float64, det *determinant) (ok bool) {
	n := len(b)
	for k := range n {
		copy(b[:k], a[k*n:])
		for j := k; j < n; j++ {
			b[j] = a[j*n+k]
		}
		if !(b[k] > 0) {
			return false
		}
		det.add(b[k])
		by := 1 / b[k]
		for i, v := range b {
			row, v := a[i*n:i*n+i+1], by*v
			for j, u := range b[:len(row)] {
				row[j] -= v * u
			}
		}
		floats.ScaleTo(a[k*n:k*n+k], by, b[:k])
		for j := k + 1; j < n; j++ {
			a[j*n+k] = by * b[j]
		}
		a[k*n+k] = -by
	}
	floats.Scale(-1, a)
	mirror(a, n)
	return true
}

// determinant is the logarithm of a product of pivots, one logarithm for many.
type determinant struct{ sum, product float64 }

func (d *determinant) add(pivot float64) {
	if d.product *= pivot; d.product < 1e-100 || d.product > 1e100 {
		d.sum, d.product = d.log(), 1
	}
}

func (d *determinant) log() float64 { return d.sum + math.Log(d.product) }

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

	parts   []part    // of all inverses since forget
	numbers []float64 // their inverses
	at      []int     // their columns
	in      []bool    // of each column: in the block and not yet in a component
	starts  []int
	given   []float64 // work space
}

// inverse is P_mm⁻¹ by the components of m.
type inverse struct {
	at     []int // m, component by component
	parts  []part
	logDet float64 // of P_mm
}

// part holds the columns of a component and its inverse, (m, m).
type part struct {
	at    []int
	block []float64
}

const (
	leastSplit      = 4    // minimum number of columns to split a block
	sparseProduct   = 0.05 // maximum nonzero share of P for products by its links
	sparsePrecision = 0.4  // maximum nonzero share of pairs to look for components
)

func newBlocks(d int, r Algebra) *blocks {
	c := &blocks{Algebra: r, d: d, p: make([]float64, d*d), in: make([]bool, d), starts: make([]int, d+1), given: make([]float64, d)}
	c.p[0] = math.NaN() // differs from every P
	return c
}

// prepare copies P (d, d).
func (c *blocks) prepare(p []float64) {
	d := c.d
	copy(c.p, p)
	c.first, c.links = c.starts, c.links[:0]
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

func (c *blocks) of(j int) []int32 { return c.links[c.first[j]:c.first[j+1]] }

// forget ends the validity of earlier inverses.
func (c *blocks) forget() { c.parts, c.at, c.numbers = c.parts[:0], c.at[:0], c.numbers[:0] }

// invert returns the inverse of the block of increasing columns at; ok is false if it is not
// positive definite.
func (c *blocks) invert(at []int) (of inverse, ok bool) {
	from, first, det := len(c.at), len(c.parts), determinant{product: 1}
	if c.first == nil || len(at) < leastSplit {
		c.at = append(c.at, at...)
		ok = c.add(from, &det)
		return inverse{c.at[from:], c.parts[first:], det.log()}, ok
	}
	for _, j := range at {
		c.in[j] = true
	}
	ok = true
	for _, j := range at {
		if c.in[j] {
			start := len(c.at)
			c.component(j)
			ok = ok && c.add(start, &det)
		}
	}
	return inverse{c.at[from:], c.parts[first:], det.log()}, ok
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
}

func (c *blocks) add(from int, det *determinant) (ok bool) {
	at, start := c.at[from:], len(c.numbers)
	end := start + len(at)*len(at)
	c.numbers = slices.Grow(c.numbers, end-start)[:end]
	c.parts = append(c.parts, part{at, c.numbers[start:end]})
	if len(at) == 1 { // most components of a sparse network
		pivot := c.p[at[0]*(c.d+1)]
		det.add(pivot)
		c.numbers[start] = 1 / pivot
		return pivot > 0
	}
	return c.inverse(c.numbers[start:end], c.p, c.d, at, c.given, det)
}

// prefersCells compares the costs of a pattern's two inverses. With ℓ links of a missing column to
// others, the missing block counts as ℓ/(ℓ + 2) of its columns.
func (c *blocks) prefersCells(q rowPattern) bool {
	size := float64(len(q.gaps))
	if c.first != nil {
		links := float64(len(c.links)) * size / float64(c.d*c.d)
		size *= links / (links + 2)
	}
	return float64(len(q.seen)) < size
}

// complete sets the elements m of rows to (n, d) to −P_mm⁻¹ times these elements of from.
func (c *blocks) complete(of inverse, from, to []float64) {
	for i := 0; i < len(to); i += c.d {
		for _, q := range of.parts {
			m := len(q.at)
			for a, j := range q.at {
				c.given[a] = from[i+j]
			}
			for a, j := range q.at {
				to[i+j] = -floats.Dot(q.block[a*m:a*m+m], c.given[:m])
			}
		}
	}
}

// times sets to to the inverse times from, both (m, m) in the order of at.
func (v inverse) times(from, to []float64) {
	m := len(v.at)
	clear(to)
	for _, q := range v.parts {
		n := len(q.at)
		for a := range n {
			for b, by := range q.block[a*n : a*n+n] {
				floats.AddScaled(to[a*m:a*m+m], by, from[b*m:b*m+m])
			}
		}
		from, to = from[n*m:], to[n*m:]
	}
}

// addTo adds to sum (d, d).
func (v inverse) addTo(sum []float64, d int, weight float64) {
	for _, q := range v.parts {
		m := len(q.at)
		for a, j := range q.at {
			row := sum[j*d : j*d+d]
			for b, by := range q.block[a*m : a*m+m] {
				row[q.at[b]] += weight * by
			}
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
