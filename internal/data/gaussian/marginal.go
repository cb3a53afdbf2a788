package gaussian

import "slices"

// Marginal computes the marginal loss of a normal model in closed form, and its gradient
// (docs/theory/gaussian.md#eq-gaussian-marginal). With C = P_mm⁻¹, zero elsewhere, E the observed
// columns of I, W = (I − CP)E, Q = Σ_ΛΛ⁻¹ = WᵀPW, x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
//
// where WWᵀ = (I − CP)(I − PC) and tr Q = tr P − ⟨C, P²⟩. It is not safe for concurrent use.
type Marginal struct {
	ByMean, ByP []float64 // gradients (d) and (d, d), after Loss

	*blocks
	square   []float64 // P²
	trace    float64   // of P
	sum, csc []float64 // Σ w C and Σ w C P² C, zero-padded
	s, scrap []float64 // work space
	patterns RowPatterns
	rows     completedRows
	y        []float64 // (n, d)
}

func NewMarginal(d int, r Algebra) *Marginal {
	n := func() []float64 { return make([]float64, d*d) }
	return &Marginal{blocks: newBlocks(d, r), ByMean: make([]float64, d), ByP: n(), square: n(), sum: n(), csc: n(), s: n(), scrap: n()}
}

// Loss is Σ_i w_i ℓ_i over rows x (n, d), 0 where missing, and sets the gradients. It fails with
// ErrNotPositiveDefinite.
func (c *Marginal) Loss(mu, p, x, mask, weight []float64) (loss float64, err error) {
	d, r := c.d, &c.rows
	if !slices.Equal(c.p, p) { // all batches of a step share one P
		c.prepare(p)
		c.Multiply(false, false, d, d, d, p, p, c.square)
		c.trace = 0
		for j := range d {
			c.trace += p[j*d+j]
		}
	}
	clear(c.ByMean)
	clear(c.ByP)
	clear(c.sum)
	clear(c.csc)
	r.begin(len(weight), d)
	c.y = room(c.y, len(weight)*d)
	c.patterns.Find(mask, weight)
	patterns := c.patterns.patterns
	if len(patterns) > 0 && len(patterns[0].gaps) == d { // no observed cell
		patterns = patterns[1:]
	}
	c.forget()
	share := 0.0
	for i := range patterns {
		q := &patterns[i]
		r.take(q, c.patterns.order, d, x, mask, mu, weight)
		var ok bool
		if q.inverse, ok = c.invert(q.gaps); !ok {
			return 0, ErrNotPositiveDefinite
		}
		share += q.share
		q.inverse.addTo(c.sum, d, q.share)
		loss -= 2 * q.share * (c.trace - c.addSquares(q))
	}
	if r.n == 0 {
		return 0, nil
	}
	n, y, u := r.n, c.y[:r.n*d], r.px[:r.n*d]
	complete := func(v []float64) {
		c.products(n, v, u)
		for _, q := range patterns {
			c.complete(q.inverse, q.of(u, d), q.of(v, d))
		}
	}
	complete(r.x)
	c.products(n, r.x, y)
	clearGaps(patterns, y, d)
	loss += dot(y, y)
	complete(y)
	c.products(n, y, u)
	clearGaps(patterns, u, d)
	for i := range n {
		for j, v := range u[i*d : i*d+d] {
			c.ByMean[j] -= 2 * r.root[i] * v
		}
	}
	cross, cp := c.scrap, c.s
	c.Multiply(true, false, d, d, n, r.x, y, cross)
	c.Multiply(false, false, d, d, d, c.p, c.sum, cp) // PC
	for j := range d {
		for k := range d {
			c.ByP[j*d+k] += cross[j*d+k] + cross[k*d+j] + 2*(cp[j*d+k]+cp[k*d+j]-c.csc[j*d+k])
		}
		c.ByP[j*d+j] -= 2 * share
	}
	return loss, nil
}

// clearGaps sets the missing elements of rows (n, d) to 0.
func clearGaps(patterns []rowPattern, rows []float64, d int) {
	for _, q := range patterns {
		of := q.of(rows, d)
		for i := 0; i < len(of); i += d {
			for _, j := range q.gaps {
				of[i+j] = 0
			}
		}
	}
}

// addSquares adds CP²C of a pattern, times its share, and returns ⟨C, P²⟩.
func (c *Marginal) addSquares(q *rowPattern) (inner float64) {
	d, at := c.d, q.inverse.at
	m := len(at)
	s, cs := c.s[:m*m], c.scrap[:m*m]
	for a, j := range at {
		row := c.square[j*d : j*d+d]
		for b, k := range at {
			s[a*m+b] = row[k]
		}
	}
	q.inverse.times(s, cs)
	for a := range m {
		inner += cs[a*m+a]
		for b, v := range cs[a*m : a*m+m] {
			s[b*m+a] = v // P²C; both are symmetric
		}
	}
	q.inverse.times(s, cs)
	for a, j := range at {
		row := c.csc[j*d : j*d+d]
		for b, v := range cs[a*m : a*m+m] {
			row[at[b]] += q.share * v
		}
	}
	return inner
}
