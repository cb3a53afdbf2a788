package losses

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/graph"
)

// marginalMissing is the closed form by missing blocks. With C = P_mm⁻¹, zero
// elsewhere, and E the columns of I that are observed, W = (I − CP)E completes
// observed values by their conditional means, Q = WᵀPW and dQ = WᵀdP W. Since
// I − CP is zero on the missing columns, WWᵀ = (I − CP)(I − PC) and
//
//	tr Q = tr P − ⟨C, P²⟩
//
// so a pattern costs m³. With x̂ = W(x−μ)_o, y = (Px̂)_o, ŷ = Wy:
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

	s, product []float64 // (P²)_mm and scratch
	patterns   []missingPattern
	gaps       []int     // of the patterns, one after the other
	inverse    []float64 // their C, likewise
	n          int       // rows
	x, y, u    []float64 // (n, d)
	mask, w    []float64 // (n, d), (n)
}

// missingPattern says where a pattern's parts are.
type missingPattern struct{ row, end, gaps, m, inverse int }

func newMarginalMissing(d int, gemm graph.Product[float64]) marginalMissing {
	n := func() []float64 { return make([]float64, d*d) }
	return marginalMissing{d: d, gemm: gemm, square: n(), sum: n(), csc: n(), s: n(), product: n()}
}

func (c *marginalMissing) prepare(p []float64) {
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
	c.share, c.n, c.patterns, c.gaps, c.inverse = 0, 0, c.patterns[:0], c.gaps[:0], c.inverse[:0]
}

// add adds the rows of a pattern and returns −2 tr Q of it.
func (c *marginalMissing) add(p []float64, gaps, rows []int, x, mu, weight, mask []float64) (loss float64, err error) {
	d, m := c.d, len(gaps)
	at := missingPattern{row: c.n, end: c.n + len(rows), gaps: len(c.gaps), m: m, inverse: len(c.inverse)}
	c.patterns = append(c.patterns, at)
	c.gaps = append(c.gaps, gaps...)
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
	trace := c.trace
	if m > 0 {
		for len(c.inverse) < at.inverse+m*m {
			c.inverse = append(c.inverse, 0)
		}
		inverse := c.inverse[at.inverse : at.inverse+m*m]
		if _, ok := invert(inverse, p, d, gaps); !ok {
			return 0, ErrNotPositiveDefinite
		}
		for a, j := range gaps {
			for b, k := range gaps {
				v := c.square[j*d+k]
				c.s[a*m+b] = v
				trace -= inverse[a*m+b] * v
			}
		}
		whole := blas64.General{Rows: m, Cols: m, Stride: m, Data: inverse}
		s := blas64.General{Rows: m, Cols: m, Stride: m, Data: c.s}
		product := blas64.General{Rows: m, Cols: m, Stride: m, Data: c.product}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, share, whole, s, 0, product)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, product, whole, 0, s)
		for a, j := range gaps {
			for b, k := range gaps {
				c.sum[j*d+k] += share * inverse[a*m+b]
				c.csc[j*d+k] += c.s[a*m+b]
			}
		}
	}
	return -2 * share * trace, nil
}

// complete sets the missing part of each row v to −C(Pv)_m.
func (c *marginalMissing) complete(v, p []float64) {
	c.gemm(false, false, c.n, c.d, c.d, v, p, c.u)
	for _, q := range c.patterns {
		gaps, inverse := c.gaps[q.gaps:q.gaps+q.m], c.inverse[q.inverse:q.inverse+q.m*q.m]
		for i := q.row; i < q.end; i++ {
			v, u := v[i*c.d:i*c.d+c.d], c.u[i*c.d:i*c.d+c.d]
			for a, j := range gaps {
				s := 0.0
				for b, k := range gaps {
					s -= inverse[a*q.m+b] * u[k]
				}
				v[j] = s
			}
		}
	}
}

// finish adds the gradients and returns the sum of the rows' weighted yᵀy.
func (c *marginalMissing) finish(p, gradMu, gradP []float64) (loss float64) {
	if c.n == 0 {
		return 0
	}
	n, d := c.n, c.d
	c.complete(c.x, p)
	c.gemm(false, false, n, d, d, c.x, p, c.y)
	for i := range n {
		for j := i * d; j < i*d+d; j++ {
			c.y[j] *= c.mask[j]
			loss += c.w[i] * c.y[j] * c.y[j]
		}
	}
	c.complete(c.y, p)
	c.gemm(false, false, n, d, d, c.y, p, c.u)
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
	c.gemm(false, false, d, d, d, c.sum, p, cp)
	for j := range d {
		for k := range d {
			gradP[j*d+k] += cross[j*d+k] + cross[k*d+j] + 2*(cp[j*d+k]+cp[k*d+j]-c.csc[j*d+k])
		}
		gradP[j*d+j] -= 2 * c.share
	}
	return loss
}
