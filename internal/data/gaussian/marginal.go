package gaussian

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Marginal computes the marginal loss of a normal model in closed form, and its gradient
// (docs/theory/gaussian.md#eq-gaussian-marginal). With C = P_mm⁻¹, zero elsewhere, E the observed
// columns of I, W = (I − CP)E, Q = Σ_ΛΛ⁻¹ = WᵀPW, x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
//
// where WWᵀ = (I − CP)(I − PC) and tr Q = tr P − ⟨C, P²⟩. Patterns with few observed cells use Q =
// Σ_oo⁻¹, which is cheaper, and has more digits if P is nearly singular (addCells). It is not safe
// for concurrent use.
type Marginal struct {
	ByMean, ByP []float64 // gradients (d) and (d, d), after Loss

	*blocks
	square   []float64 // P²
	trace    float64   // of P
	sum, csc []float64 // Σ w C and Σ w C P² C, zero-padded
	s, scrap []float64 // work space
	patterns RowPatterns
	rows     completedRows
	y        []float64    // (n, d)
	filled   []rowPattern // completed by C

	all                []int
	inverted, definite bool      // Σ was computed; it exists
	sigma, bySigma     []float64 // Σ; ∂ℓ/∂Σ, lower triangle
	q, slope           []float64 // Q, ∂ℓ/∂Σ_oo of a pattern
	seen, qx, qqx      []float64 // of a row
}

func NewMarginal(d int, r Algebra) *Marginal {
	n := func() []float64 { return make([]float64, d*d) }
	v := func() []float64 { return make([]float64, d) }
	return &Marginal{blocks: newBlocks(d, r), ByMean: v(), ByP: n(), square: n(), sum: n(), csc: n(), s: n(), scrap: n(),
		all: all(d), sigma: n(), bySigma: n(), q: n(), slope: n(), seen: v(), qx: v(), qqx: v()}
}

// Loss is Σ_i w_i ℓ_i over rows x (n, d), 0 where missing, and sets the gradients. It fails with
// ErrNotPositiveDefinite.
func (c *Marginal) Loss(mu, p, x, mask, weight []float64) (loss float64, err error) {
	d, r := c.d, &c.rows
	if !slices.Equal(c.p, p) { // all batches of a step share one P
		c.prepare(p)
		c.Multiply(false, false, d, d, d, p, p, c.square)
		c.trace, c.inverted = 0, false
		for j := range d {
			c.trace += p[j*d+j]
		}
	}
	clear(c.ByMean)
	clear(c.ByP)
	clear(c.sum)
	clear(c.csc)
	clear(c.bySigma)
	r.begin(len(weight), d)
	c.y = room(c.y, len(weight)*d)
	c.patterns.Find(mask, weight)
	patterns := c.patterns.patterns
	if len(patterns) > 0 && len(patterns[0].gaps) == d { // no observed cell
		patterns = patterns[1:]
	}
	c.forget()
	c.filled = c.filled[:0]
	share := 0.0
	for i := range patterns {
		q := &patterns[i]
		if c.prefersCells(*q) && c.invertible() {
			at, ok := c.addCells(q, x, mu, weight)
			if !ok {
				return 0, ErrNotPositiveDefinite
			}
			loss += at
			continue
		}
		r.take(q, c.patterns.order, d, x, mask, mu, weight)
		var ok bool
		if q.inverse, ok = c.invert(q.gaps); !ok {
			return 0, ErrNotPositiveDefinite
		}
		share += q.share
		q.inverse.addTo(c.sum, d, q.share)
		loss -= 2 * q.share * (c.trace - c.addSquares(q))
		c.filled = append(c.filled, *q)
	}
	if len(c.filled) < len(patterns) { // ∂ℓ/∂P = −Σ (∂ℓ/∂Σ) Σ
		mirror(c.bySigma, d)
		c.Multiply(false, false, d, d, d, c.sigma, c.bySigma, c.scrap)
		c.Multiply(false, false, d, d, d, c.scrap, c.sigma, c.bySigma)
		floats.Sub(c.ByP, c.bySigma)
	}
	if r.n == 0 {
		return loss, nil
	}
	patterns = c.filled
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

// invertible is false if P is not positive definite.
func (c *Marginal) invertible() bool {
	if !c.inverted {
		c.inverted = true
		c.definite = c.inverse(c.sigma, c.p, c.d, c.all, c.given, &determinant{product: 1})
	}
	return c.definite
}

// addCells adds a pattern by Q = Σ_oo⁻¹, where dQ = −Q dΣ_oo Q. With y = Q(x−μ)_o and z = Qy
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂Σ_oo = 2Q² − yzᵀ − zyᵀ,   ∂ℓ/∂μ_o = −2z
//
// ok is false by rounding only: Σ is positive definite.
func (c *Marginal) addCells(of *rowPattern, x, mu, weight []float64) (loss float64, ok bool) {
	d, o := c.d, len(of.seen)
	q, slope, r, y, z := c.q[:o*o], c.slope[:o*o], c.seen[:o], c.qx[:o], c.qqx[:o]
	if !c.inverse(q, c.sigma, d, of.seen, c.given, &determinant{product: 1}) {
		return 0, false
	}
	rows, share, trace := c.patterns.order[of.first:of.last], 0.0, 0.0
	for _, i := range rows {
		share += weight[i]
	}
	for a := range o {
		trace += q[a*o+a]
	}
	loss = -2 * share * trace
	blas64.Syrk(blas.NoTrans, 2*share, blas64.General{Rows: o, Cols: o, Stride: o, Data: q}, 0,
		blas64.Symmetric{Uplo: blas.Lower, N: o, Stride: o, Data: slope})
	for _, i := range rows {
		w := weight[i]
		for a, j := range of.seen {
			r[a] = x[i*d+j] - mu[j]
		}
		for a := range y {
			y[a] = dot(q[a*o:a*o+o], r)
		}
		for a, j := range of.seen {
			z[a] = dot(q[a*o:a*o+o], y)
			c.ByMean[j] -= 2 * w * z[a]
		}
		loss += w * dot(y, y)
		for a := range o {
			row := slope[a*o : a*o+a+1]
			for b := range row {
				row[b] -= w * (y[a]*z[b] + z[a]*y[b])
			}
		}
	}
	for a, j := range of.seen {
		for b, v := range slope[a*o : a*o+a+1] {
			c.bySigma[j*d+of.seen[b]] += v
		}
	}
	return loss, true
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
