package losses

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/graph"
)

// gaussianMoments are the moments of rows completed by a normal's own conditional: the
// expectation step of an EM algorithm (docs/theory/complete-data.md#eq-moments). With
// Σ = P⁻¹, rows i of weight w_i and δ = x − μ,
//
//	A = Σ w_i,   S = Σ w_i E[δ_i | x_o],   M = Σ w_i E[δ_iδ_iᵀ | x_o],   L = Σ w_i log p(x_o)
//
// Rows of one pattern share an inverse, that of the missing or of the observed block,
// whichever is less work. By the missing one, C = P_mm⁻¹, in parts where P has zeros
// (principalInverse), a row is completed by δ_m = −C(Pδ)_m and M gets δδᵀ + C. By the
// observed one, Q = Σ_oo⁻¹, with q = Qδ_o, 0 elsewhere, it is δ = Σq, and M gets
// Σ + Σ(qqᵀ − Q)Σ, whose products with Σ are made once for all rows.
type gaussianMoments struct {
	d    int
	gemm graph.Product[float64]
	all  []int

	eta, p, mu []float64 // of the last run
	factor     []float64 // lower triangle of P's, and Σ where inverted
	inverted   bool
	logDet     float64 // of P
	gaps       *principalInverse
	together   together

	number, logLikelihood float64
	sum, second           []float64 // S (d) and M (d, d)

	mask, weight []float64    // of the last run: what follows is for these
	order        []int        // rows sorted by pattern
	patterns     []rowPattern // in order
	blocks       []int        // their at, one after the other

	block, given []float64 // of a row: the inverse of its observed block, and what that is applied to
	byGaps       completedRows
	byCells      completedRows
	scratch      []float64
	squares      []float64 // Σ w E(qqᵀ − Q)Eᵀ
	observed     float64   // weight of the rows done by their observed block
}

// completedRows are rows (n, d) in the order of their patterns, times the root of their weights.
type completedRows struct {
	n     int
	root  []float64 // (n) of the weights
	x, px []float64 // (n, d)
}

func newGaussianMoments(d int, gemm graph.Product[float64]) *gaussianMoments {
	square := func() []float64 { return make([]float64, d*d) }
	return &gaussianMoments{d: d, gemm: gemm, all: all(d), eta: make([]float64, d), p: square(), factor: square(), mu: make([]float64, d),
		gaps: newPrincipalInverse(d), together: together{d: d}, given: make([]float64, d), sum: make([]float64, d), second: square(), scratch: square(), squares: square()}
}

// prepare factors P, if it is not that of the last run, and solves Pμ = η.
func (c *gaussianMoments) prepare(eta, p []float64) error {
	if slices.Equal(c.p, p) && slices.Equal(c.eta, eta) {
		return nil
	}
	d := c.d
	copy(c.p, p)
	copy(c.eta, eta)
	c.inverted, c.logDet = false, 0
	copy(c.factor, p)
	if !graph.Factor(c.factor, d, d) {
		clear(c.p)
		return ErrNotPositiveDefinite
	}
	for j := range d {
		c.logDet += 2 * math.Log(c.factor[j*d+j])
	}
	copy(c.mu, eta)
	l, v := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Stride: d, Data: c.factor}, blas64.Vector{N: d, Inc: 1, Data: c.mu}
	blas64.Trsv(blas.NoTrans, l, v)
	blas64.Trsv(blas.Trans, l, v)
	c.gaps.prepare(c.p)
	return nil
}

// sigma is Σ, made from the factor when it is first asked for.
func (c *gaussianMoments) sigma() []float64 {
	if !c.inverted {
		graph.InvertFactor(c.factor, c.d, c.d)
		mirror(c.factor, c.d)
		c.inverted = true
	}
	return c.factor
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
	clear(c.squares)
	c.byGaps.begin(len(weight), d)
	c.byCells.begin(len(weight), d)
	c.findPatterns(mask, weight)
	for i := range c.patterns {
		q := &c.patterns[i]
		side := &c.byGaps
		if q.byCells = c.gaps.exceeds(len(q.seen), len(q.gaps)); q.byCells {
			side = &c.byCells
		}
		q.row = side.n
		q.share = side.take(c.order[q.first:q.last], d, x, mask, c.mu, weight)
		c.number += q.share
	}
	if err := c.finishGaps(); err != nil {
		return err
	}
	return c.finishCells()
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
		from := len(c.blocks)
		for j, o := range pattern(at) {
			if o == 0 {
				c.blocks = append(c.blocks, j)
			}
		}
		cut := len(c.blocks)
		for j, o := range pattern(at) {
			if o != 0 {
				c.blocks = append(c.blocks, j)
			}
		}
		q.gaps, q.seen = c.blocks[from:cut], c.blocks[cut:]
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

// begin makes room for n rows.
func (c *completedRows) begin(n, d int) {
	c.root, c.x, c.px, c.n = room(c.root, n), room(c.x, n*d), room(c.px, n*d), 0
}

// take copies a pattern's rows as √w (x − μ), zero where missing. It returns their weight.
func (c *completedRows) take(rows []int, d int, x, mask, mu, weight []float64) (share float64) {
	for _, i := range rows {
		share += weight[i]
		root := math.Sqrt(weight[i])
		c.root[c.n] = root
		to := c.x[c.n*d : c.n*d+d]
		for j := range to {
			if to[j] = 0; mask[i*d+j] != 0 {
				to[j] = root * (x[i*d+j] - mu[j])
			}
		}
		c.n++
	}
	return share
}

// finishGaps completes the rows that go by the inverse of their missing block.
func (c *gaussianMoments) finishGaps() error {
	r, d := &c.byGaps, c.d
	if r.n == 0 {
		return nil
	}
	c.gaps.products(c.gemm, r.n, r.x, r.px)
	c.together.begin()
	for k, q := range c.patterns {
		if q.byCells {
			continue
		}
		if c.together.takes(len(q.gaps)) {
			c.together.patterns = append(c.together.patterns, k)
			continue
		}
		logDet, ok := c.gaps.invert(q.gaps)
		if !ok {
			return ErrNotPositiveDefinite
		}
		c.density(q, c.logDet-logDet)
		c.gaps.addTo(c.second, q.share)
		for i := q.row; i < q.row+q.last-q.first; i++ {
			c.gaps.apply(r.px[i*d:i*d+d], r.x[i*d:i*d+d], -1, c.given)
		}
	}
	if err := c.together.finish(c); err != nil {
		return err
	}
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
	return nil
}

// density adds to L the logarithm of the normalisers of a pattern's rows, logDet that of Q.
func (c *gaussianMoments) density(q rowPattern, logDet float64) {
	c.logLikelihood += q.share * 0.5 * (logDet - float64(len(q.seen))*math.Log(2*math.Pi))
}

// finishCells completes the rows that go by the inverse of their observed block.
func (c *gaussianMoments) finishCells() error {
	r, d := &c.byCells, c.d
	if r.n == 0 {
		return nil
	}
	sigma := c.sigma()
	copy(r.px, r.x[:r.n*d])
	clear(r.x[:r.n*d])
	for _, q := range c.patterns {
		if !q.byCells {
			continue
		}
		m := len(q.seen)
		c.block = room(c.block, m*m)
		logDet, ok := invert(c.block, sigma, d, q.seen)
		if !ok {
			return ErrNotPositiveDefinite
		}
		c.observed += q.share
		c.density(q, -logDet)
		whole := inversePart{q.seen, c.block}
		whole.addTo(c.squares, d, -q.share)
		for i := q.row; i < q.row+q.last-q.first; i++ {
			whole.apply(r.px[i*d:i*d+d], r.x[i*d:i*d+d], 1, c.given)
		}
	}
	c.logLikelihood -= 0.5 * dot(r.px[:r.n*d], r.x)
	c.gemm(true, false, d, d, r.n, r.x, r.x, c.scratch)
	for i, v := range c.scratch {
		c.squares[i] += v
	}
	c.gemm(false, false, d, d, d, sigma, c.squares, c.scratch)
	c.gemm(false, false, d, d, d, c.scratch, sigma, c.squares)
	for i, v := range c.squares {
		c.second[i] += c.observed*sigma[i] + v
	}
	q := c.scratch[:d]
	clear(q)
	for i := range r.n {
		for j, v := range r.x[i*d : i*d+d] {
			q[j] += r.root[i] * v
		}
	}
	for j := range d {
		c.sum[j] += dot(sigma[j*d:j*d+d], q)
	}
	return nil
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
	if n < largeBlock {
		ok = factorSmall(a, n)
	} else {
		ok = graph.Factor(a, n, n)
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
		graph.InvertFactor(a, n, n)
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
