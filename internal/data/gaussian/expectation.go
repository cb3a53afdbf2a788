// Package gaussian has the arithmetic of normal distributions with missing cells.
//
//	RowPatterns  rows grouped by their missing cells
//	Expectation  the expectation step of an EM algorithm
//	Marginal     the marginal score-matching loss and its gradient
//	Fit, Filler  a quick EM fit of standardised columns, and gaps filled by conditional means
package gaussian

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// ErrNotPositiveDefinite says that a conditional distribution does not exist.
var ErrNotPositiveDefinite = errors.New("the precision is not positive definite on the missing cells of a row")

// Expectation computes E-steps (docs/theory/complete-data.md#eq-moments). With Σ = P⁻¹, rows i of
// weight w_i and δ = x − μ, a step computes
//
//	A = Σ w_i,   S = Σ w_i E[δ_i | x_o],   M = Σ w_i E[δ_iδ_iᵀ | x_o],   L = Σ w_i log p(x_o)
//
// A pattern uses the cheaper block. Missing: C = P_mm⁻¹, δ_m = −C(Pδ)_m, M gains δδᵀ + C. Observed:
// Q = Σ_oo⁻¹, q = Qδ_o (0 elsewhere), δ = Σq, M gains Σ + Σ(qqᵀ − Q)Σ, with one product by Σ for
// all rows. It is not safe for concurrent use.
type Expectation struct {
	Number, LogLikelihood float64   // A, L
	Sum, Second           []float64 // S (d), M (d, d)
	Mean                  []float64 // μ

	Algebra
	d                int
	eta, p           []float64    // of the last step
	factor           *Elimination // of P
	sigma            []float64    // Σ, if inverted
	inverted, solved bool         // Σ belongs to P; μ belongs to η
	logDet           float64      // of P
	ofGaps, ofCells  *blocks      // of P and of Σ
	together         together
	byGaps, byCells  completedRows
	squares          []float64 // Σ w E(qqᵀ − Q)Eᵀ
	scratch, given   []float64
	within           bool // the last step was Within
	pairs            [][2]int32
}

// completedRows holds rows (n, d) in the order of their patterns, times √weight.
type completedRows struct {
	n     int
	root  []float64 // (n) of the weights
	x, px []float64 // (n, d)
}

func NewExpectation(d int, r Algebra) *Expectation {
	square, vector := func() []float64 { return make([]float64, d*d) }, func() []float64 { return make([]float64, d) }
	c := &Expectation{d: d, Algebra: r, eta: vector(), p: square(), factor: NewElimination(d, r.Factor), sigma: square(), Mean: vector(),
		ofGaps: newBlocks(d, r), ofCells: newBlocks(d, r), together: together{d: d}, given: vector(), Sum: vector(), Second: square(), scratch: square(), squares: square()}
	c.p[0] = math.NaN() // differs from every P
	return c
}

// Over computes a step over rows x (n, d), 0 where missing, for η = Pμ (d) and the precision p (d,
// d). It fails with ErrNotPositiveDefinite.
func (c *Expectation) Over(eta, p, x, mask, weight []float64, rows *RowPatterns) error {
	if err := c.prepare(p); err != nil {
		return err
	}
	if !c.solved || !slices.Equal(c.eta, eta) {
		copy(c.eta, eta)
		copy(c.Mean, eta)
		c.factor.Solve(c.Mean)
	}
	c.solved, c.within = true, false
	return c.over(x, mask, weight, rows)
}

// Network is a normal distribution whose P is 0 outside some pairs of columns.
type Network struct {
	Mean, P []float64 // (d), (d, d)
	Pairs   [][2]int32
}

// Within computes a step at a network; of M only the diagonal and the network's pairs. It fails
// with ErrNotPositiveDefinite.
func (c *Expectation) Within(at Network, x, mask, weight []float64, rows *RowPatterns) error {
	if err := c.prepare(at.P); err != nil {
		return err
	}
	copy(c.Mean, at.Mean)
	c.solved, c.within, c.pairs = false, true, at.Pairs
	return c.over(x, mask, weight, rows)
}

// Elements sets out to A, S, the diagonal of M and its pairs of the last Within.
func (c *Expectation) Elements(out []float64) {
	out[0] = c.Number
	copy(out[1:], c.Sum)
	for j := range c.d {
		out[1+c.d+j] = c.Second[j*c.d+j]
	}
	for i, at := range c.pairs {
		out[1+2*c.d+i] = c.Second[int(at[0])*c.d+int(at[1])]
	}
}

func (c *Expectation) over(x, mask, weight []float64, rows *RowPatterns) error {
	c.Number, c.LogLikelihood = 0, 0
	clear(c.Sum)
	clear(c.Second)
	c.byGaps.begin(len(weight), c.d)
	c.byCells.begin(len(weight), c.d)
	for i := range rows.patterns {
		q := &rows.patterns[i]
		by := &c.byGaps
		if q.byCells = c.ofGaps.exceeds(len(q.seen), len(q.gaps)); q.byCells {
			by = &c.byCells
		}
		q.row = by.n
		q.share = by.take(rows.order[q.first:q.last], c.d, x, mask, c.Mean, weight)
		c.Number += q.share
	}
	if err := c.finishGaps(rows.patterns); err != nil {
		return err
	}
	return c.finishCells(rows.patterns)
}

func (c *Expectation) prepare(p []float64) (err error) {
	if slices.Equal(c.p, p) {
		return nil
	}
	copy(c.p, p)
	var ok bool
	if c.logDet, ok = c.factor.Factor(func(j int) []float64 { return c.p[j*c.d+j : (j+1)*c.d] }, 0); !ok {
		c.p[0] = math.NaN()
		return ErrNotPositiveDefinite
	}
	c.solved, c.inverted = false, false
	c.ofGaps.prepare(c.p)
	return nil
}

// Moments sets out, (d+1, d+1), to [A Sᵀ; S M] and returns the loss Σ_i w_i ψ_i.
func (c *Expectation) Moments(out []float64) (loss float64) {
	n := c.d + 1
	out[0] = c.Number
	for j, v := range c.Sum {
		out[j+1], out[(j+1)*n] = v, v
		copy(out[(j+1)*n+1:(j+2)*n], c.Second[j*c.d:(j+1)*c.d])
	}
	c.ofGaps.products(c.d, c.Second, c.scratch)
	return c.loss(c.scratch)
}

// loss is −2A tr P + tr(PMP); pm is PM or MP.
func (c *Expectation) loss(pm []float64) (sum float64) {
	d := c.d
	for j := range d {
		sum += dot(pm[j*d:j*d+d], c.p[j*d:j*d+d]) - 2*c.Number*c.p[j*d+j]
	}
	return sum
}

// Gradient sets byEta (d) and byP (d, d) at fixed moments, and returns the loss:
//
//	ψ = −2A tr P + tr(PMP),   ∂ψ/∂η = −2PS,   ∂ψ/∂P = 2(PM + PSμᵀ − A I)
func (c *Expectation) Gradient(byEta, byP []float64) (loss float64) {
	d := c.d
	c.Multiply(false, false, d, d, d, c.p, c.Second, byP)
	loss = c.loss(byP)
	for j := range d {
		ps := dot(c.p[j*d:j*d+d], c.Sum)
		byEta[j] = -2 * ps
		for k := range d {
			byP[j*d+k] = 2 * (byP[j*d+k] + ps*c.Mean[k])
		}
		byP[j*d+j] -= 2 * c.Number
	}
	return loss
}

func (c *completedRows) begin(n, d int) {
	c.root, c.x, c.px, c.n = room(c.root, n), room(c.x, n*d), room(c.px, n*d), 0
}

// take copies a pattern's rows as √w (x − μ), 0 where missing.
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

func (c *completedRows) addSum(sum []float64) {
	d := len(sum)
	for i := range c.n {
		floats.AddScaled(sum, c.root[i], c.x[i*d:i*d+d])
	}
}

// side applies inverses to rows with a sign, and adds them to sum with the opposite sign.
type side struct {
	cells   bool
	rows    *completedRows
	matrix  []float64 // P or Σ
	sign    float64
	sum     []float64                           // (d, d)
	density func(q *rowPattern, logDet float64) // receives each block's log determinant
}

func (s side) block(q *rowPattern) []int {
	if s.cells {
		return q.seen
	}
	return q.gaps
}

func (c *Expectation) complete(patterns []rowPattern, s side, by *blocks) error {
	for k := range patterns {
		q := &patterns[k]
		if q.byCells != s.cells || !by.scatters(len(s.block(q))) && c.together.takes(len(s.block(q)), k) {
			continue
		}
		logDet, ok := by.invert(s.block(q))
		if !ok {
			return ErrNotPositiveDefinite
		}
		s.density(q, logDet)
		by.addTo(s.sum, -s.sign*q.share)
		for i := q.row * c.d; i < (q.row+q.last-q.first)*c.d; i += c.d {
			for _, p := range by.parts {
				p.apply(s.rows.px[i:i+c.d], s.rows.x[i:i+c.d], s.sign, c.given)
			}
		}
	}
	return c.together.finish(patterns, s)
}

func (c *Expectation) density(q *rowPattern, logDet float64) {
	c.LogLikelihood += q.share * 0.5 * (logDet - float64(len(q.seen))*math.Log(2*math.Pi))
}

func (c *Expectation) finishGaps(patterns []rowPattern) error {
	r, d := &c.byGaps, c.d
	if r.n == 0 {
		return nil
	}
	c.ofGaps.products(r.n, r.x, r.px)
	if err := c.complete(patterns, side{rows: r, matrix: c.p, sign: -1, sum: c.Second,
		density: func(q *rowPattern, logDet float64) { c.density(q, c.logDet-logDet) }}, c.ofGaps); err != nil {
		return err
	}
	r.addSum(c.Sum)
	if c.within {
		c.addPairs(r)
		return nil
	}
	c.Multiply(true, false, d, d, r.n, r.x, r.x, c.scratch)
	for i, v := range c.scratch {
		c.Second[i] += v
		c.LogLikelihood -= 0.5 * v * c.p[i]
	}
	return nil
}

// addPairs adds completed rows to the diagonal and the pairs of M, and to L.
func (c *Expectation) addPairs(r *completedRows) {
	d, n := c.d, r.n
	turned := r.px // (d, n)
	for i := range n {
		for j, v := range r.x[i*d : i*d+d] {
			turned[j*n+i] = v
		}
	}
	column := func(j int) []float64 { return turned[j*n : j*n+n] }
	for j := range d {
		v := floats.Dot(column(j), column(j))
		c.Second[j*d+j] += v
		c.LogLikelihood -= 0.5 * v * c.p[j*d+j]
	}
	for _, at := range c.pairs {
		j, k := int(at[0]), int(at[1])
		v := floats.Dot(column(j), column(k))
		c.Second[j*d+k] += v
		c.LogLikelihood -= v * c.p[j*d+k]
	}
}

func (c *Expectation) finishCells(patterns []rowPattern) error {
	r, d := &c.byCells, c.d
	if r.n == 0 {
		return nil
	}
	if !c.inverted {
		copy(c.sigma, c.p)
		if !c.Factor(c.sigma, d, d) {
			return ErrNotPositiveDefinite
		}
		c.Invert(c.sigma, d, d)
		mirror(c.sigma, d)
		c.inverted = true
	}
	clear(c.squares)
	copy(r.px, r.x[:r.n*d])
	clear(r.x[:r.n*d])
	c.ofCells.p, c.ofCells.first = c.sigma, nil
	if err := c.complete(patterns, side{cells: true, rows: r, matrix: c.sigma, sign: 1, sum: c.squares,
		density: func(q *rowPattern, logDet float64) { c.density(q, -logDet) }}, c.ofCells); err != nil {
		return err
	}
	observed := 0.0
	for _, q := range patterns {
		if q.byCells {
			observed += q.share
		}
	}
	c.LogLikelihood -= 0.5 * dot(r.px[:r.n*d], r.x)
	c.Multiply(true, false, d, d, r.n, r.x, r.x, c.scratch)
	floats.Add(c.squares, c.scratch)
	c.Multiply(false, false, d, d, d, c.sigma, c.squares, c.scratch)
	c.Multiply(false, false, d, d, d, c.scratch, c.sigma, c.squares)
	for i, v := range c.squares {
		c.Second[i] += observed*c.sigma[i] + v
	}
	q := c.scratch[:d]
	clear(q)
	r.addSum(q)
	for j := range d {
		c.Sum[j] += dot(c.sigma[j*d:j*d+d], q)
	}
	return nil
}

// dot sums in order; floats.Dot does not.
func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
