package losses

import (
	"missingscore/graph"
)

// marginalMissing is the closed form by missing blocks. With C = P_mm⁻¹, zero
// elsewhere, and E the columns of I that are observed, W = (I − CP)E completes
// observed values by their conditional means, Q = WᵀPW and dQ = WᵀdP W. Since
// I − CP is zero on the missing columns, WWᵀ = (I − CP)(I − PC) and
//
//	tr Q = tr P − ⟨C, P²⟩
//
// so a pattern costs m³, less where C has parts (principalInverse). With x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
//
// where the products with P and the sums over rows are done for all rows at once.
type marginalMissing struct {
	d        int
	gemm     graph.Product[float64]
	square   []float64 // P²
	trace    float64   // of P
	share    float64   // summed weights
	sum, csc []float64 // Σ w C and Σ w C P² C, zero-padded

	of         *principalInverse
	s, product []float64 // (P²)_mm and scratch
	patterns   []missingPattern
	parts      []missingPart // of the patterns, one after the other
	gaps       []int         // of the parts, likewise
	inverse    []float64     // their C, likewise
	given      []float64     // of a row, that C is applied to
	n          int           // rows
	x, y, u    []float64     // (n, d)
	mask, w    []float64     // (n, d), (n)
}

// missingPattern says where a pattern's rows and parts are.
type missingPattern struct{ row, end, first, last int }

// missingPart says where a part's columns, m of them, and C are.
type missingPart struct{ gaps, m, inverse int }

func newMarginalMissing(d int, gemm graph.Product[float64]) marginalMissing {
	n := func() []float64 { return make([]float64, d*d) }
	return marginalMissing{d: d, gemm: gemm, of: newPrincipalInverse(d), given: make([]float64, d), square: n(), sum: n(), csc: n(), s: n(), product: n()}
}

// prepare takes P, which must not change until the next call.
func (c *marginalMissing) prepare(p []float64) {
	c.of.prepare(p)
	c.gemm(false, false, c.d, c.d, c.d, p, p, c.square)
	c.trace = 0
	for j := range c.d {
		c.trace += p[j*c.d+j]
	}
}

// begin makes room for n rows.
func (c *marginalMissing) begin(n int) {
	if len(c.w) < n {
		c.x, c.y, c.u, c.mask, c.w = make([]float64, n*c.d), make([]float64, n*c.d), make([]float64, n*c.d), make([]float64, n*c.d), make([]float64, n)
	}
	clear(c.sum)
	clear(c.csc)
	c.share, c.n, c.patterns, c.parts, c.gaps, c.inverse = 0, 0, c.patterns[:0], c.parts[:0], c.gaps[:0], c.inverse[:0]
}

// add adds the rows of a pattern and returns −2 tr Q of it.
func (c *marginalMissing) add(gaps, rows []int, x, mu, weight, mask []float64) (loss float64, err error) {
	d := c.d
	at := missingPattern{row: c.n, end: c.n + len(rows), first: len(c.parts)}
	share := 0.0
	for _, i := range rows {
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
	if _, ok := c.of.invert(gaps); !ok {
		return 0, ErrNotPositiveDefinite
	}
	for _, q := range c.of.parts {
		c.parts = append(c.parts, missingPart{gaps: len(c.gaps), m: len(q.at), inverse: len(c.inverse)})
		c.gaps, c.inverse = append(c.gaps, q.at...), append(c.inverse, q.block...)
	}
	at.last = len(c.parts)
	c.patterns = append(c.patterns, at)
	c.of.addTo(c.sum, share)
	return -2 * share * (c.trace - c.addSquares(share)), nil
}

// addSquares adds CP²C of the pattern at hand, times its share, and returns ⟨C, P²⟩.
func (c *marginalMissing) addSquares(share float64) (inner float64) {
	d, at := c.d, c.of.at
	m := len(at)
	if m == 0 {
		return 0
	}
	s, cs := c.s[:m*m], c.product[:m*m]
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
	c.of.times(c.gemm, s, cs)
	for a := range m {
		for b, v := range cs[a*m : a*m+m] {
			s[b*m+a] = v // P²C, for both are symmetric
		}
	}
	c.of.times(c.gemm, s, cs)
	for a, j := range at {
		row := c.csc[j*d : j*d+d]
		for b, v := range cs[a*m : a*m+m] {
			row[at[b]] += share * v
		}
	}
	return inner
}

// complete sets the missing part of each row v to −C(Pv)_m.
func (c *marginalMissing) complete(v []float64) {
	c.of.products(c.gemm, c.n, v, c.u)
	for _, q := range c.patterns {
		for _, p := range c.parts[q.first:q.last] {
			part := inversePart{c.gaps[p.gaps : p.gaps+p.m], c.inverse[p.inverse : p.inverse+p.m*p.m]}
			for i := q.row; i < q.end; i++ {
				part.apply(c.u[i*c.d:i*c.d+c.d], v[i*c.d:i*c.d+c.d], -1, c.given)
			}
		}
	}
}

// finish adds the gradients and returns the sum of the rows' weighted yᵀy.
func (c *marginalMissing) finish(gradMu, gradP []float64) (loss float64) {
	if c.n == 0 {
		return 0
	}
	n, d := c.n, c.d
	c.complete(c.x)
	c.of.products(c.gemm, n, c.x, c.y)
	for i := range n {
		for j := i * d; j < i*d+d; j++ {
			c.y[j] *= c.mask[j]
			loss += c.w[i] * c.y[j] * c.y[j]
		}
	}
	c.complete(c.y)
	c.of.products(c.gemm, n, c.y, c.u)
	for i := range n {
		for j := range d {
			at := i*d + j
			gradMu[j] -= 2 * c.w[i] * c.mask[at] * c.u[at]
			c.y[at] *= c.w[i]
		}
	}
	cross := c.product
	c.gemm(true, false, d, d, n, c.x, c.y, cross)
	cp := c.s
	c.gemm(false, false, d, d, d, c.of.p, c.sum, cp) // PC, whose zeros spare work
	for j := range d {
		for k := range d {
			gradP[j*d+k] += cross[j*d+k] + cross[k*d+j] + 2*(cp[j*d+k]+cp[k*d+j]-c.csc[j*d+k])
		}
		gradP[j*d+j] -= 2 * c.share
	}
	return loss
}
