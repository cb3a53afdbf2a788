package losses

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/graph"
)

// gaussianMoments are the moments of rows completed by a normal's own conditional: the
// expectation step of an EM algorithm (docs/theory/complete-data.md#eq-moments). With
// Σ = P⁻¹, rows i of weight w_i and δ = x − μ,
//
//	A = Σ w_i,   S = Σ w_i E[δ_i | x_o],   M = Σ w_i E[δ_iδ_iᵀ | x_o],   L = Σ w_i log p(x_o)
//
// Rows of one pattern share a factor, which is that of the smaller block. By the missing
// one, C = P_mm⁻¹, a row is completed by δ_m = −C(Pδ)_m and M gets δδᵀ + C. By the
// observed one, Q = Σ_oo⁻¹, with q = Qδ_o, 0 elsewhere, it is δ = Σq, and M gets
// Σ + Σ(qqᵀ − Q)Σ, whose products with Σ are made once for all rows.
type gaussianMoments struct {
	d    int
	gemm graph.Product[float64]
	all  []int

	eta, p, sigma, mu []float64 // of the last run
	logDet            float64   // of P

	number, logLikelihood float64
	sum, second           []float64 // S (d) and M (d, d)

	mask, weight []float64    // of the last run: what follows is for these
	order        []int        // rows sorted by pattern
	patterns     []rowPattern // in order
	blocks       []int        // their at, one after the other

	block    []float64
	byGaps   completedRows
	byCells  completedRows
	scratch  []float64
	squares  []float64 // Σ w C, or Σ w E(qqᵀ − Q)Eᵀ
	observed float64   // weight of the rows done by their observed block
}

// completedRows are rows (n, d) in the order of their patterns, times the root of their weights.
type completedRows struct {
	n     int
	root  []float64 // (n) of the weights
	x, px []float64 // (n, d)
	spans []patternSpan
	at    []int     // the patterns' blocks, one after the other
	block []float64 // their inverses, likewise
}

// patternSpan says where a pattern's rows and parts are.
type patternSpan struct{ row, end, at, m, block int }

func newGaussianMoments(d int, gemm graph.Product[float64]) *gaussianMoments {
	square := func() []float64 { return make([]float64, d*d) }
	return &gaussianMoments{d: d, gemm: gemm, all: all(d), eta: make([]float64, d), p: square(), sigma: square(), mu: make([]float64, d),
		sum: make([]float64, d), second: square(), scratch: square(), squares: square()}
}

// prepare inverts P, if it is not that of the last run, and solves Pμ = η.
func (c *gaussianMoments) prepare(eta, p []float64) error {
	if slices.Equal(c.p, p) && slices.Equal(c.eta, eta) {
		return nil
	}
	copy(c.p, p)
	copy(c.eta, eta)
	logDet, ok := invert(c.sigma, p, c.d, c.all)
	if !ok {
		clear(c.p)
		return ErrNotPositiveDefinite
	}
	c.logDet = logDet
	for j := range c.d {
		c.mu[j] = dot(c.sigma[j*c.d:j*c.d+c.d], eta)
	}
	return nil
}

// collect sets the moments to those of the rows x, zero where missing. It fails where P
// is not positive definite.
func (c *gaussianMoments) collect(eta, p, x, mask, weight []float64) error {
	if err := c.prepare(eta, p); err != nil {
		return err
	}
	d := c.d
	c.number, c.logLikelihood, c.observed = 0, 0, 0
	clear(c.sum)
	clear(c.second)
	c.byGaps.begin(len(weight), d)
	c.byCells.begin(len(weight), d)
	c.findPatterns(mask, weight)
	clear(c.squares)
	for _, q := range c.patterns {
		if err := c.add(q, x, mask, weight); err != nil {
			return err
		}
	}
	c.finishGaps()
	c.finishCells()
	return nil
}

// rowPattern is a pattern of missing cells: its rows in order, from the first to before the
// last, and its smaller block, of missing or observed cells.
type rowPattern struct {
	first, last int
	cells       int // observed
	byCells     bool
	at          []int
}

// findPatterns sorts the rows of some weight by their patterns, if they are not those of the
// last run.
func (c *gaussianMoments) findPatterns(mask, weight []float64) {
	if slices.Equal(c.weight, weight) && slices.Equal(c.mask, mask) {
		return
	}
	c.mask, c.weight = append(c.mask[:0], mask...), append(c.weight[:0], weight...)
	c.order, c.patterns = c.order[:0], c.patterns[:0]
	for i, w := range weight {
		if w != 0 {
			c.order = append(c.order, i)
		}
	}
	c.sortByPattern(mask)
	c.blocks = room(c.blocks, len(c.order)*c.d)[:0]
	pattern := func(k int) []float64 { return mask[c.order[k]*c.d : c.order[k]*c.d+c.d] }
	for at := 0; at < len(c.order); {
		q := rowPattern{first: at, last: at + 1}
		for q.last < len(c.order) && slices.Equal(pattern(q.last), pattern(at)) {
			q.last++
		}
		for _, o := range pattern(at) {
			if o != 0 {
				q.cells++
			}
		}
		q.byCells = q.cells < c.d-q.cells
		from := len(c.blocks)
		for j, o := range pattern(at) {
			if (o != 0) == q.byCells {
				c.blocks = append(c.blocks, j)
			}
		}
		q.at = c.blocks[from:]
		c.patterns = append(c.patterns, q)
		at = q.last
	}
}

// sortByPattern puts the rows of order into that of their patterns, of one pattern as they
// were. Rows that come in the opposite order, as those of a path do, need no comparisons but
// of neighbours.
func (c *gaussianMoments) sortByPattern(mask []float64) {
	pattern := func(i int) []float64 { return mask[i*c.d : i*c.d+c.d] }
	var starts []int // of the patterns' rows
	for at, i := range c.order {
		before := 1
		if at > 0 {
			before = slices.Compare(pattern(c.order[at-1]), pattern(i))
		}
		if before < 0 {
			slices.SortStableFunc(c.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })
			return
		}
		if before > 0 {
			starts = append(starts, at)
		}
	}
	end, turned := len(c.order), make([]int, 0, len(c.order))
	for _, start := range slices.Backward(starts) {
		turned = append(turned, c.order[start:end]...)
		end = start
	}
	c.order = turned
}

// add prepares the rows of a pattern.
func (c *gaussianMoments) add(q rowPattern, x, mask, weight []float64) error {
	d := c.d
	from, side, sign := c.p, &c.byGaps, 1.0
	if q.byCells {
		from, side, sign = c.sigma, &c.byCells, -1
	}
	m := len(q.at)
	c.block = room(c.block, m*m)
	logDet, ok := invert(c.block, from, d, q.at)
	if !ok {
		return ErrNotPositiveDefinite
	}
	rows := c.order[q.first:q.last]
	share := side.take(rows, d, x, mask[rows[0]*d:rows[0]*d+d], c.mu, weight, q.at, c.block)
	c.number += share
	if q.byCells {
		c.observed += share
		logDet = -logDet
	} else {
		logDet = c.logDet - logDet
	}
	c.logLikelihood += share * 0.5 * (logDet - float64(q.cells)*math.Log(2*math.Pi))
	for a, j := range q.at {
		for b, k := range q.at {
			if q.byCells {
				c.squares[j*d+k] += sign * share * c.block[a*m+b]
			} else {
				c.second[j*d+k] += share * c.block[a*m+b]
			}
		}
	}
	return nil
}

// begin makes room for n rows.
func (c *completedRows) begin(n, d int) {
	c.root, c.x, c.px = room(c.root, n), room(c.x, n*d), room(c.px, n*d)
	c.n, c.spans, c.at, c.block = 0, c.spans[:0], c.at[:0], c.block[:0]
}

// take copies a pattern's rows as √w (x − μ), zero where missing, and its block. It
// returns their weight.
func (c *completedRows) take(rows []int, d int, x, mask, mu, weight []float64, at []int, block []float64) (share float64) {
	s := patternSpan{row: c.n, end: c.n + len(rows), at: len(c.at), m: len(at), block: len(c.block)}
	c.spans, c.at, c.block = append(c.spans, s), append(c.at, at...), append(c.block, block...)
	for _, i := range rows {
		share += weight[i]
		root := math.Sqrt(weight[i])
		c.root[c.n] = root
		to := c.x[c.n*d : c.n*d+d]
		for j := range to {
			if to[j] = 0; mask[j] != 0 {
				to[j] = root * (x[i*d+j] - mu[j])
			}
		}
		c.n++
	}
	return share
}

// finishGaps completes the rows that have the inverse of their missing block.
func (c *gaussianMoments) finishGaps() {
	r, d := &c.byGaps, c.d
	if r.n == 0 {
		return
	}
	c.gemm(false, false, r.n, d, d, r.x, c.p, r.px)
	r.apply(d, r.px, r.x, -1)
	c.gemm(true, false, d, d, r.n, r.x, r.x, c.scratch)
	for i, v := range c.scratch[:d*d] {
		c.second[i] += v
		c.logLikelihood -= 0.5 * v * c.p[i]
	}
	for i := range r.n {
		for j, v := range r.x[i*d : i*d+d] {
			c.sum[j] += r.root[i] * v
		}
	}
}

// finishCells completes the rows that have the inverse of their observed block.
func (c *gaussianMoments) finishCells() {
	r, d := &c.byCells, c.d
	if r.n == 0 {
		return
	}
	copy(r.px, r.x[:r.n*d])
	clear(r.x[:r.n*d])
	r.apply(d, r.px, r.x, 1)
	c.logLikelihood -= 0.5 * dot(r.px[:r.n*d], r.x)
	c.gemm(true, false, d, d, r.n, r.x, r.x, c.scratch)
	for i, v := range c.scratch {
		c.squares[i] += v
	}
	c.gemm(false, false, d, d, d, c.sigma, c.squares, c.scratch)
	c.gemm(false, false, d, d, d, c.scratch, c.sigma, c.squares)
	for i, v := range c.squares {
		c.second[i] += c.observed*c.sigma[i] + v
	}
	q := c.scratch[:d]
	clear(q)
	for i := range r.n {
		for j, v := range r.x[i*d : i*d+d] {
			q[j] += r.root[i] * v
		}
	}
	for j := range d {
		c.sum[j] += dot(c.sigma[j*d:j*d+d], q)
	}
}

// apply sets the block of each row of to, (n, d), to sign times its inverse block times that of from.
func (c *completedRows) apply(d int, from, to []float64, sign float64) {
	for _, s := range c.spans {
		at, block := c.at[s.at:s.at+s.m], c.block[s.block:s.block+s.m*s.m]
		for i := s.row; i < s.end; i++ {
			u, v := from[i*d:i*d+d], to[i*d:i*d+d]
			for a, j := range at {
				sum := 0.0
				for b, k := range at {
					sum += block[a*s.m+b] * u[k]
				}
				v[j] = sign * sum
			}
		}
	}
}

// invert fills a with the inverse of the lower triangle a[j,k] = p[at_j, at_k], its upper
// triangle too, and gives the log determinant of what it inverts. It is not ok where that
// is not positive definite.
func invert(a, p []float64, d int, at []int) (logDet float64, ok bool) {
	n := len(at)
	for i, j := range at {
		row, from := a[i*n:i*n+i+1], p[j*d:j*d+d]
		for b := range row {
			row[b] = from[at[b]]
		}
	}
	if n == 0 {
		return 0, true
	}
	var l blas64.Triangular
	if n < largeBlock {
		ok = factorSmall(a, n)
	} else {
		l, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: a})
	}
	if !ok {
		return 0, false
	}
	for i := range n {
		logDet += 2 * math.Log(a[i*n+i])
	}
	if n < largeBlock {
		invertSmall(a, n)
	} else {
		lapack64.Potri(l)
	}
	mirror(a, n)
	return logDet, true
}

// room is x with length n, its memory kept where that suffices.
func room[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
