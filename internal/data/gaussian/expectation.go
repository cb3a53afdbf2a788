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

// Expectation computes E-steps (docs/theory/complete-data.md#eq-moments). With rows i of weight w_i
// and δ = x − μ, a step computes
//
//	A = Σ w_i,   S = Σ w_i E[δ_i | x_o],   M = Σ w_i E[δ_iδ_iᵀ | x_o],   L = Σ w_i log p(x_o)
//
// where with C = P_mm⁻¹ δ_m becomes −C(Pδ)_m and M gains δδᵀ + C. With few observed cells, Q = Σ_oo⁻¹
// is cheaper, Σ = P⁻¹: C = Σ − Σ_·o Q Σ_o· and δ becomes Σ_·o Q δ_o. It is not safe for concurrent use.
type Expectation struct {
	Number, LogLikelihood float64   // A, L
	Sum, Second           []float64 // S (d), M (d, d)
	Mean                  []float64 // μ

	*blocks
	factor  *Elimination // of P
	logDet  float64      // of P
	rows    completedRows
	scratch []float64

	cells    *blocks   // of Σ
	inverted bool      // cells belongs to P
	byCells  float64   // summed weights of rows completed by Σ
	squares  []float64 // Σ w Q over these rows, 0 elsewhere
}

// completedRows holds rows (n, d) in the order of their patterns, times √weight.
type completedRows struct {
	n     int
	root  []float64 // (n) of the weights
	x, px []float64 // (n, d)
}

func NewExpectation(d int, r Algebra) *Expectation {
	square, vector := func() []float64 { return make([]float64, d*d) }, func() []float64 { return make([]float64, d) }
	return &Expectation{blocks: newBlocks(d, r), factor: NewElimination(d, r.Factor), Mean: vector(), Sum: vector(), Second: square(), scratch: square(),
		cells: newBlocks(d, r), squares: square()}
}

// Over computes a step over rows x (n, d), 0 where missing, for η = Pμ (d) and the precision p (d,
// d). If pairs is not nil, P is 0 off these pairs j < k and so M is right on them and the diagonal
// only. It fails with ErrNotPositiveDefinite.
func (c *Expectation) Over(eta, p, x, mask, weight []float64, rows *RowPatterns, pairs [][2]int32) error {
	d, r := c.d, &c.rows
	if !slices.Equal(c.p, p) {
		var ok bool
		if c.logDet, ok = c.factor.Factor(func(j int) []float64 { return p[j*d+j : (j+1)*d] }, 0); !ok {
			c.p[0] = math.NaN() // differs from every P
			return ErrNotPositiveDefinite
		}
		c.prepare(p)
		c.inverted = false
	}
	copy(c.Mean, eta)
	c.factor.Solve(c.Mean)
	c.Number, c.LogLikelihood, c.byCells = 0, 0, 0
	clear(c.Sum)
	clear(c.Second)
	clear(c.squares)
	r.begin(len(weight), d)
	for i := range rows.patterns {
		q := &rows.patterns[i]
		r.take(q, rows.order, d, x, mask, c.Mean, weight)
		c.Number += q.share
	}
	if r.n == 0 {
		return nil
	}
	c.products(r.n, r.x, r.px)
	for _, q := range rows.patterns {
		if c.prefersCells(q) {
			if !c.completeByCells(&q) {
				return ErrNotPositiveDefinite
			}
			continue
		}
		c.forget()
		of, ok := c.invert(q.gaps)
		if !ok {
			return ErrNotPositiveDefinite
		}
		c.LogLikelihood += q.share * 0.5 * (c.logDet - of.logDet - float64(len(q.seen))*math.Log(2*math.Pi))
		of.addTo(c.Second, d, q.share)
		c.complete(of, q.of(r.px, d), q.of(r.x, d))
	}
	if c.byCells > 0 { // M gains Σ w (Σ − ΣQΣ)
		c.Multiply(false, false, d, d, d, c.cells.p, c.squares, c.scratch)
		c.Multiply(false, false, d, d, d, c.scratch, c.cells.p, c.squares)
		floats.Sub(c.Second, c.squares)
		floats.AddScaled(c.Second, c.byCells, c.cells.p)
	}
	for i := range r.n {
		floats.AddScaled(c.Sum, r.root[i], r.x[i*d:i*d+d])
	}
	add := func(at int, v float64) {
		c.Second[at] += v
		c.LogLikelihood -= 0.5 * v * c.p[at]
	}
	if pairs == nil {
		c.Multiply(true, false, d, d, r.n, r.x, r.x, c.scratch)
		for i, v := range c.scratch {
			add(i, v)
		}
		return nil
	}
	column := func(j int) []float64 { return r.px[j*r.n : (j+1)*r.n] }
	for i := range r.n {
		for j, v := range r.x[i*d : i*d+d] {
			r.px[j*r.n+i] = v
		}
	}
	for j := range d {
		add(j*d+j, floats.Dot(column(j), column(j)))
	}
	for _, at := range pairs {
		j, k := int(at[0]), int(at[1])
		v := floats.Dot(column(j), column(k))
		add(j*d+k, v)
		add(k*d+j, v)
	}
	return nil
}

// completeByCells completes a pattern's rows by Σ_oo⁻¹, and adds it to squares.
func (c *Expectation) completeByCells(q *rowPattern) (ok bool) {
	d := c.d
	if !c.inverted {
		all := make([]int, d)
		for j := range all {
			all[j] = j
		}
		c.forget()
		sigma, ok := c.invert(all)
		if !ok {
			return false
		}
		clear(c.scratch)
		sigma.addTo(c.scratch, d, 1)
		c.cells.prepare(c.scratch)
		c.inverted = true
	}
	c.cells.forget()
	of, ok := c.cells.invert(q.seen)
	c.byCells += q.share
	c.LogLikelihood -= q.share * 0.5 * (of.logDet + float64(len(q.seen))*math.Log(2*math.Pi))
	of.addTo(c.squares, d, q.share)
	x, minus := q.of(c.rows.x, d), q.of(c.rows.px, d)
	c.cells.complete(of, x, minus) // −Qδ_o
	clear(x)
	for i := 0; i < len(x); i += d {
		for _, j := range q.seen {
			floats.AddScaled(x[i:i+d], -minus[i+j], c.cells.p[j*d:j*d+d])
		}
	}
	return ok
}

// Moments sets out, (d+1, d+1), to [A Sᵀ; S M].
func (c *Expectation) Moments(out []float64) {
	n := c.d + 1
	out[0] = c.Number
	for j, v := range c.Sum {
		out[j+1], out[(j+1)*n] = v, v
		copy(out[(j+1)*n+1:(j+2)*n], c.Second[j*c.d:(j+1)*c.d])
	}
}

// Loss returns Σ_i w_i ψ_i, for a step without pairs.
func (c *Expectation) Loss() float64 {
	c.products(c.d, c.Second, c.scratch)
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
func (c *completedRows) take(q *rowPattern, order []int, d int, x, mask, mu, weight []float64) {
	q.row, q.share = c.n, 0
	for _, i := range order[q.first:q.last] {
		q.share += weight[i]
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
}

// dot sums in order; floats.Dot does not.
func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
