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
	factor     []float64 // lower triangle of P's
	inverse    []float64 // Σ, where inverted
	inverted   bool
	solved     bool    // μ is that of η
	logDet     float64 // of P
	gaps       *principalInverse
	together   together

	number, logLikelihood float64
	sum, second           []float64 // S (d) and M (d, d)

	rows         *RowPatterns
	own          RowPatterns
	mask, weight []float64 // of the last run of collect, that rows are found for

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
	c := &gaussianMoments{d: d, gemm: gemm, all: all(d), eta: make([]float64, d), p: square(), factor: square(), inverse: square(), mu: make([]float64, d),
		gaps: newPrincipalInverse(d), together: together{d: d}, given: make([]float64, d), sum: make([]float64, d), second: square(), scratch: square(), squares: square()}
	c.p[0] = math.NaN() // not factored yet
	return c
}

// prepare factors P, if it is not that of the last run.
func (c *gaussianMoments) prepare(p []float64) error {
	if slices.Equal(c.p, p) {
		return nil
	}
	d := c.d
	copy(c.p, p)
	c.solved, c.inverted, c.logDet = false, false, 0
	copy(c.factor, p)
	if !graph.Factor(c.factor, d, d) {
		c.p[0] = math.NaN() // which equals nothing
		return ErrNotPositiveDefinite
	}
	for j := range d {
		c.logDet += 2 * math.Log(c.factor[j*d+j])
	}
	c.gaps.prepare(c.p)
	return nil
}

// solve sets μ, Pμ = η, if it is not that of the last run: by the factor, whether P is that of the
// last run or not, so that its rounding does not depend on what was asked for before.
func (c *gaussianMoments) solve(eta []float64) {
	if c.solved && slices.Equal(c.eta, eta) {
		return
	}
	copy(c.mu, eta)
	l, v := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: c.d, Stride: c.d, Data: c.factor}, blas64.Vector{N: c.d, Inc: 1, Data: c.mu}
	blas64.Trsv(blas.NoTrans, l, v)
	blas64.Trsv(blas.Trans, l, v)
	copy(c.eta, eta)
	c.solved = true
}

// sigma is Σ, made from the factor when it is first asked for.
func (c *gaussianMoments) sigma() []float64 {
	if !c.inverted {
		copy(c.inverse, c.factor)
		graph.InvertFactor(c.inverse, c.d, c.d)
		mirror(c.inverse, c.d)
		c.inverted = true
	}
	return c.inverse
}

// collect sets the moments to those of the rows x, zero where missing. It fails where P
// is not positive definite.
func (c *gaussianMoments) collect(eta, p, x, mask, weight []float64) error {
	if err := c.prepare(p); err != nil {
		return err
	}
	c.solve(eta)
	if !slices.Equal(c.weight, weight) || !slices.Equal(c.mask, mask) {
		c.mask, c.weight = append(c.mask[:0], mask...), append(c.weight[:0], weight...)
		c.own.find(mask, weight)
	}
	c.rows = &c.own
	return c.moments(x, mask, weight)
}

// moments sets them to those of the rows x with the patterns rows, P and μ.
func (c *gaussianMoments) moments(x, mask, weight []float64) error {
	d := c.d
	c.number, c.logLikelihood, c.observed = 0, 0, 0
	c.together.patterns = c.together.patterns[:0]
	clear(c.sum)
	clear(c.second)
	clear(c.squares)
	c.byGaps.begin(len(weight), d)
	c.byCells.begin(len(weight), d)
	for i := range c.rows.patterns {
		q := &c.rows.patterns[i]
		side := &c.byGaps
		if q.byCells = c.gaps.exceeds(len(q.seen), len(q.gaps)); q.byCells {
			side = &c.byCells
		}
		q.row = side.n
		q.share = side.take(c.rows.order[q.first:q.last], d, x, mask, c.mu, weight)
		c.number += q.share
	}
	if err := c.finishGaps(); err != nil {
		return err
	}
	return c.finishCells()
}

// matrix is [A Sᵀ; S M], (d+1, d+1).
func (c *gaussianMoments) matrix(out []float64) {
	n := c.d + 1
	out[0] = c.number
	for j, v := range c.sum {
		out[j+1], out[(j+1)*n] = v, v
		copy(out[(j+1)*n+1:(j+2)*n], c.second[j*c.d:(j+1)*c.d])
	}
}

// loss is −2A tr P + tr(PMP); pm becomes PM.
func (c *gaussianMoments) loss(pm []float64) (sum float64) {
	d := c.d
	c.gemm(false, false, d, d, d, c.p, c.second, pm)
	for j := range d {
		sum += dot(pm[j*d:j*d+d], c.p[j*d:j*d+d]) - 2*c.number*c.p[j*d+j]
	}
	return sum
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
	for k, q := range c.rows.patterns {
		if q.byCells {
			continue
		}
		if c.together.takes(len(q.gaps), k) {
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
	if err := c.together.finish(c.rows.patterns, side{
		matrix: c.p, block: func(q *rowPattern) []int { return q.gaps }, rows: r, sign: -1,
		sum: c.second, weight: func(q *rowPattern) float64 { return q.share },
		logDet: func(q *rowPattern, of float64) { c.density(*q, c.logDet-of) },
	}); err != nil {
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
	for k, q := range c.rows.patterns {
		if !q.byCells {
			continue
		}
		c.observed += q.share
		if c.together.takes(len(q.seen), k) {
			continue
		}
		m := len(q.seen)
		c.block = room(c.block, m*m)
		logDet, ok := invert(c.block, sigma, d, q.seen)
		if !ok {
			return ErrNotPositiveDefinite
		}
		c.density(q, -logDet)
		whole := inversePart{q.seen, c.block}
		whole.addTo(c.squares, d, -q.share)
		for i := q.row; i < q.row+q.last-q.first; i++ {
			whole.apply(r.px[i*d:i*d+d], r.x[i*d:i*d+d], 1, c.given)
		}
	}
	if err := c.together.finish(c.rows.patterns, side{
		matrix: sigma, block: func(q *rowPattern) []int { return q.seen }, rows: r, sign: 1,
		sum: c.squares, weight: func(q *rowPattern) float64 { return -q.share },
		logDet: func(q *rowPattern, of float64) { c.density(*q, -of) },
	}); err != nil {
		return err
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
