package gaussian

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Marginal computes the marginal loss of a normal model in closed form, and its gradient
// (docs/theory/gaussian.md#eq-gaussian-marginal). With C = P_mm⁻¹, zero elsewhere, E the observed
// columns of I, W = (I − CP)E, Q = Σ_ΛΛ⁻¹ = WᵀPW, x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
//
// where WWᵀ = (I − CP)(I − PC) and tr Q = tr P − ⟨C, P²⟩. Patterns with few observed cells use
// byObserved. It is not safe for concurrent use.
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
	patterns []inverted // of rows that have a value
	parts    []savedPart
	gaps     []int     // of the parts, concatenated
	inverses []float64 // likewise
	given    []float64
	n        int
	x, y, u  []float64 // (n, d)
	mask, w  []float64 // (n, d), (n)

	observed           byObserved
	inverted, definite bool // Σ was computed; it exists
}

type inverted struct{ row, end, first, last int }

type savedPart struct{ gaps, m, inverse int }

func NewMarginal(d int, r Algebra) *Marginal {
	n := func() []float64 { return make([]float64, d*d) }
	return &Marginal{d: d, ByMean: make([]float64, d), ByP: n(), p: n(), of: newBlocks(d, r), given: make([]float64, d), square: n(), sum: n(), csc: n(), s: n(), scrap: n(), observed: newByObserved(d, r)}
}

// Loss is Σ_i w_i ℓ_i over rows x (n, d), 0 where missing, and sets the gradients. It fails with
// ErrNotPositiveDefinite.
func (c *Marginal) Loss(mu, p, x, mask, weight []float64) (loss float64, err error) {
	d := c.d
	if !c.prepared || !slices.Equal(c.p, p) { // all batches of a step share one P
		copy(c.p, p)
		c.of.prepare(c.p)
		c.of.Multiply(false, false, d, d, d, p, p, c.square)
		c.trace, c.prepared, c.inverted = 0, true, false
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
	clear(c.observed.bySigma)
	c.observed.used = false
	c.rows.Find(mask, weight)
	for i := range c.rows.patterns {
		q := &c.rows.patterns[i]
		if len(q.seen) == 0 { // no observed cell
			continue
		}
		var at float64
		var ok bool
		if c.of.exceeds(len(q.seen), len(q.gaps)) && c.sigma() {
			at, ok = c.observed.add(q.seen, c.rows.order[q.first:q.last], x, mu, weight, c.ByMean)
		} else {
			at, ok = c.add(q, x, mu, weight, mask)
		}
		if !ok {
			return 0, ErrNotPositiveDefinite
		}
		loss += at
	}
	c.observed.finish(c.ByP)
	return loss + c.finish(), nil
}

// sigma is false if P is not positive definite.
func (c *Marginal) sigma() bool {
	if !c.inverted {
		c.inverted = true
		_, c.definite = c.of.inverse(c.observed.sigma, c.p, c.d, c.observed.all)
	}
	return c.definite
}

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

// addSquares adds CP²C of the current pattern, times its share, and returns ⟨C, P²⟩.
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
			s[b*m+a] = v // P²C; both are symmetric
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
	c.of.Multiply(false, false, d, d, d, c.p, c.sum, cp) // PC; its zeros save work
	for j := range d {
		for k := range d {
			c.ByP[j*d+k] += cross[j*d+k] + cross[k*d+j] + 2*(cp[j*d+k]+cp[k*d+j]-c.csc[j*d+k])
		}
		c.ByP[j*d+j] -= 2 * c.share
	}
	return loss
}

// byObserved computes the loss by observed blocks of Σ = P⁻¹. A pattern has Q = Σ_oo⁻¹ and dQ = −Q
// dΣ_oo Q; with y = Q(x−μ)_o, z = Qy
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂Σ_oo = 2Q² − yzᵀ − zyᵀ,   ∂ℓ/∂μ_o = −2z
//
// Only the small ∂ℓ/∂Σ_oo are summed; ∂ℓ/∂P = −Σ (∂ℓ/∂Σ) Σ is computed once at the end.
type byObserved struct {
	Algebra
	d              int
	all            []int
	sigma, bySigma []float64 // Σ; ∂ℓ/∂Σ, lower triangle
	used           bool
	q, slope       []float64 // Q, ∂ℓ/∂Σ_oo of a pattern
	x, y, z        []float64
	product        []float64
}

func newByObserved(d int, r Algebra) byObserved {
	n, v := func() []float64 { return make([]float64, d*d) }, func() []float64 { return make([]float64, d) }
	return byObserved{Algebra: r, d: d, all: all(d), sigma: n(), bySigma: n(), q: n(), slope: n(), x: v(), y: v(), z: v(), product: n()}
}

func (c *byObserved) add(seen, rows []int, x, mu, weight, byMean []float64) (loss float64, ok bool) {
	o := len(seen)
	q, slope, r, y, z := c.q[:o*o], c.slope[:o*o], c.x[:o], c.y[:o], c.z[:o]
	if _, ok := c.inverse(q, c.sigma, c.d, seen); !ok { // rounding only: Σ is positive definite
		return 0, false
	}
	c.used = true
	share, trace := 0.0, 0.0
	for _, i := range rows {
		share += weight[i]
	}
	for i := range o {
		trace += q[i*o+i]
	}
	loss = -2 * share * trace
	blas64.Syrk(blas.NoTrans, 2*share, blas64.General{Rows: o, Cols: o, Stride: o, Data: q}, 0, blas64.Symmetric{Uplo: blas.Lower, N: o, Stride: o, Data: slope})
	for _, i := range rows {
		w := weight[i]
		for a, j := range seen {
			r[a] = x[i*c.d+j] - mu[j]
		}
		for a := range y {
			y[a] = dot(q[a*o:a*o+o], r)
		}
		for a, j := range seen {
			z[a] = dot(q[a*o:a*o+o], y)
			byMean[j] -= 2 * w * z[a]
		}
		loss += w * dot(y, y)
		for a := range o {
			row, s, t := slope[a*o:a*o+a+1], w*y[a], w*z[a]
			for b := range row {
				row[b] -= s*z[b] + t*y[b]
			}
		}
	}
	for a, j := range seen {
		row := c.bySigma[j*c.d : j*c.d+j+1]
		for b, v := range slope[a*o : a*o+a+1] {
			row[seen[b]] += v
		}
	}
	return loss, true
}

func (c *byObserved) finish(byP []float64) {
	if !c.used {
		return
	}
	d := c.d
	mirror(c.bySigma, d)
	c.Multiply(false, false, d, d, d, c.sigma, c.bySigma, c.product)
	c.Multiply(false, false, d, d, d, c.product, c.sigma, c.bySigma)
	for i, v := range c.bySigma {
		byP[i] -= v
	}
}
