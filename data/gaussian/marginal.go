package gaussian

import "slices"

// Marginal is the marginal loss of a normal model with its expectations in closed form, and its
// gradient (docs/theory/gaussian.md#eq-gaussian-marginal). With C = P_mm⁻¹, zero elsewhere, and E the
// columns of I that are observed, W = (I − CP)E completes observed values by their conditional
// means, Q = Σ_ΛΛ⁻¹ = WᵀPW and dQ = WᵀdP W. Since I − CP is zero on the missing columns,
// WWᵀ = (I − CP)(I − PC) and tr Q = tr P − ⟨C, P²⟩. With x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
//
// where the products with P and the sums over rows are done for all rows at once. It is for one
// goroutine at a time.
type Marginal struct {
	ByMean, ByP []float64 // gradients (d) and (d, d), after Loss

	d        int
	square   []float64 // P²
	trace    float64   // of P
	prepared bool
	p        []float64 // of the last call
	share    float64   // summed weights
	sum, csc []float64 // Σ w C and Σ w C P² C, zero-padded
	of       *blocks
	s, scrap []float64 // (P²)_mm and work space
	rows     RowPatterns
	patterns []inverted // those of rows that have a value
	parts    []savedPart
	gaps     []int     // of the parts, one after the other
	inverses []float64 // likewise
	given    []float64
	n        int
	x, y, u  []float64 // (n, d)
	mask, w  []float64 // (n, d), (n)
}

// inverted says which rows and which parts are a pattern's.
type inverted struct{ row, end, first, last int }

// savedPart says where a part's columns, m of them, and its inverse are.
type savedPart struct{ gaps, m, inverse int }

// NewMarginal is for d columns.
func NewMarginal(d int, r Algebra) *Marginal {
	n := func() []float64 { return make([]float64, d*d) }
	return &Marginal{d: d, ByMean: make([]float64, d), ByP: n(), p: n(), of: newBlocks(d, r), given: make([]float64, d), square: n(), sum: n(), csc: n(), s: n(), scrap: n()}
}

// Loss is Σ_i w_i ℓ_i over rows x (n, d), 0 where missing; rows without a value count 0. It sets the
// gradients. It fails with ErrNotPositiveDefinite.
func (c *Marginal) Loss(mu, p, x, mask, weight []float64) (loss float64, err error) {
	d := c.d
	if !c.prepared || !slices.Equal(c.p, p) { // a step's batches have one P
		copy(c.p, p)
		c.of.prepare(c.p)
		c.of.Multiply(false, false, d, d, d, p, p, c.square)
		c.trace, c.prepared = 0, true
		for j := range d {
			c.trace += p[j*d+j]
		}
	}
	clear(c.ByMean)
	clear(c.ByP)
	clear(c.sum)
	clear(c.csc)
	n := len(weight)
	c.x, c.y, c.u, c.mask, c.w = room(c.x, n*d), room(c.y, n*d), room(c.u, n*d), room(c.mask, n*d), room(c.w, n)
	c.share, c.n, c.patterns, c.parts, c.gaps, c.inverses = 0, 0, c.patterns[:0], c.parts[:0], c.gaps[:0], c.inverses[:0]
	c.rows.Find(mask, weight)
	for i := range c.rows.patterns {
		q := &c.rows.patterns[i]
		if len(q.seen) == 0 { // tells nothing
			continue
		}
		at, ok := c.add(q, x, mu, weight, mask)
		if !ok {
			return 0, ErrNotPositiveDefinite
		}
		loss += at
	}
	return loss + c.finish(), nil
}

// add adds the rows of a pattern and returns −2 tr Q of it.
func (c *Marginal) add(q *rowPattern, x, mu, weight, mask []float64) (loss float64, ok bool) {
	d := c.d
	at := inverted{row: c.n, first: len(c.parts)}
	share := 0.0
	for _, i := range c.rows.order[q.first:q.last] {
		to := c.n * d
		for j := range d {
			c.mask[to+j], c.x[to+j] = mask[i*d+j], 0
			if mask[i*d+j] != 0 {
				c.x[to+j] = x[i*d+j] - mu[j]
			}
		}
		c.w[c.n] = weight[i]
		share += weight[i]
		c.n++
	}
	c.share += share
	if _, ok := c.of.invert(q.gaps); !ok {
		return 0, false
	}
	for _, p := range c.of.parts {
		c.parts = append(c.parts, savedPart{gaps: len(c.gaps), m: len(p.at), inverse: len(c.inverses)})
		c.gaps, c.inverses = append(c.gaps, p.at...), append(c.inverses, p.block...)
	}
	at.end, at.last = c.n, len(c.parts)
	c.patterns = append(c.patterns, at)
	c.of.addTo(c.sum, share)
	return -2 * share * (c.trace - c.addSquares(share)), true
}

// addSquares adds CP²C of the pattern at hand, times its share, and returns ⟨C, P²⟩.
func (c *Marginal) addSquares(share float64) (inner float64) {
	d, at := c.d, c.of.at
	m := len(at)
	if m == 0 {
		return 0
	}
	s, cs := c.s[:m*m], c.scrap[:m*m]
	for a, j := range at {
		row := c.square[j*d : j*d+d]
		for b, k := range at {
			s[a*m+b] = row[k]
		}
	}
	first := 0
	for _, q := range c.of.parts {
		n := len(q.at)
		for a := range n {
			inner += dot(q.block[a*n:a*n+n], s[(first+a)*m+first:(first+a)*m+first+n])
		}
		first += n
	}
	c.of.times(s, cs)
	for a := range m {
		for b, v := range cs[a*m : a*m+m] {
			s[b*m+a] = v // P²C, for both are symmetric
		}
	}
	c.of.times(s, cs)
	for a, j := range at {
		row := c.csc[j*d : j*d+d]
		for b, v := range cs[a*m : a*m+m] {
			row[at[b]] += share * v
		}
	}
	return inner
}

// complete sets the missing part of each row v to −C(Pv)_m.
func (c *Marginal) complete(v []float64) {
	c.of.products(c.n, v, c.u)
	for _, q := range c.patterns {
		for _, p := range c.parts[q.first:q.last] {
			of := part{c.gaps[p.gaps : p.gaps+p.m], c.inverses[p.inverse : p.inverse+p.m*p.m]}
			for i := q.row; i < q.end; i++ {
				of.apply(c.u[i*c.d:i*c.d+c.d], v[i*c.d:i*c.d+c.d], -1, c.given)
			}
		}
	}
}

// finish adds the gradients and returns the sum of the rows' weighted yᵀy.
func (c *Marginal) finish() (loss float64) {
	if c.n == 0 {
		return 0
	}
	n, d := c.n, c.d
	c.complete(c.x)
	c.of.products(n, c.x, c.y)
	for i := range n {
		for j := i * d; j < i*d+d; j++ {
			c.y[j] *= c.mask[j]
			loss += c.w[i] * c.y[j] * c.y[j]
		}
	}
	c.complete(c.y)
	c.of.products(n, c.y, c.u)
	for i := range n {
		for j := range d {
			at := i*d + j
			c.ByMean[j] -= 2 * c.w[i] * c.mask[at] * c.u[at]
			c.y[at] *= c.w[i]
		}
	}
	cross := c.scrap
	c.of.Multiply(true, false, d, d, n, c.x, c.y, cross)
	cp := c.s
	c.of.Multiply(false, false, d, d, d, c.p, c.sum, cp) // PC, whose zeros spare work
	for j := range d {
		for k := range d {
			c.ByP[j*d+k] += cross[j*d+k] + cross[k*d+j] + 2*(cp[j*d+k]+cp[k*d+j]-c.csc[j*d+k])
		}
		c.ByP[j*d+j] -= 2 * c.share
	}
	return loss
}
