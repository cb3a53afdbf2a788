package losses

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/graph"
)

// GaussianMarginal is the marginal loss (M) of a Gaussian with its expectations
// in closed form, no draws (maths.md, "Checks with a known answer"): with
// Q = Σ_ΛΛ⁻¹ = P_oo − P_om P_mm⁻¹ P_mo,
//
//	ℓ_i = −2 tr Q + ‖Q(x_Λ − μ_Λ)‖²
//
// It reads the zero-filled rows, so r is 1, and the classical objective only.
// It fails where P is not positive definite on a row's missing block.
type GaussianMarginal struct{}

// ErrNotPositiveDefinite says that a conditional distribution does not exist.
var ErrNotPositiveDefinite = errors.New("the precision is not positive definite on the missing cells of a row")

// Add implements Loss.
func (GaussianMarginal) Add(b *graph.Builder, m graph.Model, o Objective, rows Rows) Result {
	g, ok := m.(*graph.Gaussian)
	if !ok {
		b.Fail(fmt.Errorf("the closed form is for Gaussian models, not %T", m))
	}
	if o != (Classical{}) || rows.R != 1 {
		b.Fail(errors.New("the closed form is for the classical objective and needs no imputations (r = 1)"))
	}
	if g.Parameterisation() == graph.Natural {
		b.Fail(errors.New("the closed form needs the mean among the model's parameters"))
	}
	k := newMarginalKernel(g.Dim())
	p := g.PrecisionNode(b)
	loss := b.Apply(graph.Op{Name: "gaussian marginal",
		Kernel:   k.run,
		Constant: []bool{false, false, true, true, true},
		Reverse: func(out, gr graph.Node) []graph.Node {
			// out is an input so that the kernel has run and left its gradients.
			gradient := func(rows, cols int, side []float64) graph.Node {
				return b.Apply(graph.Op{Name: "gaussian marginal'", Rows: rows, Cols: cols,
					Kernel: func(o []float64, in [][]float64) error {
						for i, v := range side {
							o[i] = in[1][0] * v
						}
						return nil
					}}, out, gr)
			}
			d := g.Dim()
			return []graph.Node{gradient(1, d, k.gradMu), gradient(d, d, k.gradP), nil, nil, nil}
		}}, b.Param(g.Location), p, rows.X, rows.Mask, rows.Weight)
	return Result{Surrogate: loss, Reported: loss}
}

// marginalKernel computes the loss and both gradients in one pass. With
// W = [I_o; −P_mm⁻¹P_mo] it is dQ = Wᵀ dP W, hence for y = Q(x−μ)_o and hats for W·
//
//	∂ℓ/∂P = −2WWᵀ + ŷx̂ᵀ + x̂ŷᵀ,   ∂ℓ/∂μ_o = −2Qy = −2(Pŷ)_o
type marginalKernel struct {
	d              int
	gradMu, gradP  []float64
	pmm, k, kk     []float64 // P_mm and its factor, K = P_mm⁻¹P_mo, KKᵀ
	x, y           []float64
	observed, gaps []int
	order          []int // rows sorted by pattern, so that equal ones share a factor
}

func newMarginalKernel(d int) *marginalKernel {
	n := func() []float64 { return make([]float64, d*d) }
	v := func() []float64 { return make([]float64, d) }
	return &marginalKernel{d: d, gradMu: v(), gradP: n(), pmm: n(), k: n(), kk: n(), x: v(), y: v()}
}

func (c *marginalKernel) run(out []float64, in [][]float64) error {
	d := c.d
	mu, p, x, mask, weight := in[0], in[1], in[2], in[3], in[4]
	clear(c.gradMu)
	clear(c.gradP)
	pattern := func(i int) []float64 { return mask[i*d : i*d+d] }
	c.order = c.order[:0]
	for i, w := range weight {
		if w != 0 {
			c.order = append(c.order, i)
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })

	total := 0.0
	for at := 0; at < len(c.order); {
		first, share := c.order[at], 0.0
		end := at
		for ; end < len(c.order) && slices.Equal(pattern(c.order[end]), pattern(first)); end++ {
			share += weight[c.order[end]]
		}
		trace, err := c.factor(p, pattern(first), share)
		if err != nil {
			return err
		}
		total -= 2 * share * trace
		for _, i := range c.order[at:end] {
			total += weight[i] * c.row(mu, p, x[i*d:i*d+d], weight[i])
		}
		at = end
	}
	out[0] = total
	return nil
}

// factor prepares K for a pattern, adds −2·share·WWᵀ to ∂ℓ/∂P and returns tr Q.
func (c *marginalKernel) factor(p, mask []float64, share float64) (trace float64, err error) {
	d := c.d
	c.observed, c.gaps = c.observed[:0], c.gaps[:0]
	for j, o := range mask {
		if o != 0 {
			c.observed = append(c.observed, j)
		} else {
			c.gaps = append(c.gaps, j)
		}
	}
	o, m := len(c.observed), len(c.gaps)
	for _, j := range c.observed {
		trace += p[j*d+j]
		c.gradP[j*d+j] -= 2 * share
	}
	if o == 0 || m == 0 {
		return trace, nil
	}
	for a, j := range c.gaps {
		for b, k := range c.gaps {
			c.pmm[a*m+b] = p[j*d+k]
		}
		for b, k := range c.observed {
			c.k[a*o+b] = p[j*d+k]
		}
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: m, Stride: m, Data: c.pmm})
	if !ok {
		return 0, ErrNotPositiveDefinite
	}
	k := blas64.General{Rows: m, Cols: o, Stride: o, Data: c.k}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, l, k)
	// tr P_om P_mm⁻¹P_mo is ‖L⁻¹P_mo‖²: the trace is ready between the two solves.
	for _, v := range c.k[:m*o] {
		trace -= v * v
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, l, k)

	kk := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: c.kk}
	blas64.Syrk(blas.NoTrans, 2*share, k, 0, kk)
	for a, j := range c.gaps {
		for b, q := range c.observed {
			g := 2 * share * c.k[a*o+b]
			c.gradP[j*d+q] += g
			c.gradP[q*d+j] += g
		}
		c.gradP[j*d+j] -= c.kk[a*m+a]
		for b := a + 1; b < m; b++ {
			c.gradP[j*d+c.gaps[b]] -= c.kk[a*m+b]
			c.gradP[c.gaps[b]*d+j] -= c.kk[a*m+b]
		}
	}
	return trace, nil
}

// row adds ‖y‖²'s gradients and returns it.
func (c *marginalKernel) row(mu, p, x []float64, weight float64) (square float64) {
	d := c.d
	for _, j := range c.observed {
		c.x[j] = x[j] - mu[j]
	}
	c.complete(c.x)
	clear(c.y)
	for _, j := range c.observed {
		c.y[j] = dot(p[j*d:j*d+d], c.x)
		square += c.y[j] * c.y[j]
	}
	c.complete(c.y)
	for _, j := range c.observed {
		c.gradMu[j] -= 2 * weight * dot(p[j*d:j*d+d], c.y)
	}
	g := blas64.General{Rows: d, Cols: d, Stride: d, Data: c.gradP}
	u, v := blas64.Vector{N: d, Inc: 1, Data: c.x}, blas64.Vector{N: d, Inc: 1, Data: c.y}
	blas64.Ger(weight, u, v, g)
	blas64.Ger(weight, v, u, g)
	return square
}

// complete sets the missing part of v to −K v_o, its conditional mean.
func (c *marginalKernel) complete(v []float64) {
	o := len(c.observed)
	for a, j := range c.gaps {
		s := 0.0
		for b, k := range c.observed {
			s -= c.k[a*o+b] * v[k]
		}
		v[j] = s
	}
}

func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}
