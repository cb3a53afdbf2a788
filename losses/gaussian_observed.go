package losses

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/graph"
)

// marginalObserved is the closed form by observed blocks. With Σ = P⁻¹ computed
// once, a pattern's Q is Σ_oo⁻¹ and dQ = −Q dΣ_oo Q, hence with y = Q(x−μ)_o, z = Qy
//
//	ℓ = −2 tr Q + yᵀy,   ∂ℓ/∂Σ_oo = 2Q² − yzᵀ − zyᵀ,   ∂ℓ/∂μ_o = −2z
//
// Only the small ∂ℓ/∂Σ_oo is added up, and ∂ℓ/∂P = −Σ (∂ℓ/∂Σ) Σ at the end.
type marginalObserved struct {
	d         int
	gemm      graph.Product[float64]
	all       []int
	sigma     []float64 // P⁻¹
	gradSigma []float64 // lower triangle
	q, slope  []float64 // Q, ∂ℓ/∂Σ_oo of a pattern
	x, y, z   []float64
	used      bool
	product   []float64
}

func newMarginalObserved(d int, gemm graph.Product[float64]) marginalObserved {
	n := func() []float64 { return make([]float64, d*d) }
	v := func() []float64 { return make([]float64, d) }
	return marginalObserved{d: d, gemm: gemm, all: all(d), sigma: n(), gradSigma: n(), q: n(), slope: n(), x: v(), y: v(), z: v(), product: n()}
}

// prepare inverts P; false says that it is not positive definite.
func (c *marginalObserved) prepare(p []float64) bool {
	_, ok := invert(c.sigma, p, c.d, c.all)
	return ok
}

func (c *marginalObserved) begin() {
	clear(c.gradSigma)
	c.used = false
}

// add adds the rows of a pattern and returns their loss.
func (c *marginalObserved) add(observed, rows []int, x, mu, weight, gradMu []float64) (loss float64, err error) {
	o := len(observed)
	q, slope := c.q[:o*o], c.slope[:o*o]
	if _, ok := invert(q, c.sigma, c.d, observed); !ok {
		return 0, ErrNotPositiveDefinite // by rounding: Σ is positive definite
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

	r, y, z := c.x[:o], c.y[:o], c.z[:o]
	for _, i := range rows {
		w := weight[i]
		for a, j := range observed {
			r[a] = x[i*c.d+j] - mu[j]
		}
		for a := range y {
			y[a] = dot(q[a*o:a*o+o], r)
		}
		for a, j := range observed {
			z[a] = dot(q[a*o:a*o+o], y)
			gradMu[j] -= 2 * w * z[a]
		}
		loss += w * dot(y, y)
		for a := range o {
			row, s, t := slope[a*o:a*o+a+1], w*y[a], w*z[a]
			for b := range row {
				row[b] -= s*z[b] + t*y[b]
			}
		}
	}
	for a, j := range observed {
		row := c.gradSigma[j*c.d : j*c.d+j+1]
		for b, v := range slope[a*o : a*o+a+1] {
			row[observed[b]] += v
		}
	}
	return loss, nil
}

// finish adds −Σ (∂ℓ/∂Σ) Σ to ∂ℓ/∂P.
func (c *marginalObserved) finish(gradP []float64) {
	if !c.used {
		return
	}
	d := c.d
	mirror(c.gradSigma, d)
	c.gemm(false, false, d, d, d, c.sigma, c.gradSigma, c.product)
	c.gemm(false, false, d, d, d, c.product, c.sigma, c.gradSigma)
	for i, v := range c.gradSigma {
		gradP[i] -= v
	}
}
