package losses

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/graph"
	"missingscore/graph/model"
)

// GaussianComplete is the complete-data equation of a normal model with its expectations
// in closed form, no draws (docs/theory/complete-data.md#eq-em-exact): with x̂_i the row
// completed by its conditional mean and C_i the conditional covariance of its missing
// cells, 0 elsewhere, both at the present parameters and constant for the gradient,
//
//	ψ_i = −2 tr P + ‖P(x̂_i − μ)‖² + tr(P C_i P)
//
// Its gradient is zero where P is the inverse of the mean of (x̂−μ)(x̂−μ)ᵀ + C and μ the
// mean of x̂: at the maximum of the likelihood of the observed cells. It is right under
// MAR. As x̂ and C move with the parameters it is the gradient of no function: steps
// against it are those of an EM algorithm, and a line search has nothing to go by.
// It reads the zero-filled rows, so r is 1, and the classical objective only.
// It fails where P is not positive definite on a row's missing block.
type GaussianComplete struct{}

func (GaussianComplete) Name() string { return "gaussian-complete" }
func (GaussianComplete) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Equation: true}
}

// Check implements Loss: it is of normal models with the classical objective.
func (GaussianComplete) Check(m model.Model, o Objective) error {
	if _, ok := model.AsNormal(m); !ok {
		return errors.New("the closed form is for normal models, and this is another")
	}
	if _, ok := o.(Plain); !ok {
		return errors.New("the closed form is for the classical objective")
	}
	return nil
}

// Add implements Loss.
func (l GaussianComplete) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, _ Weighting) Result {
	g, ok := model.AsNormal(m)
	if !ok {
		b.Fail(l.Check(m, o))
	}
	d := g.Dim()
	k := &completeKernel{d: d, gradLinear: make([]float64, d), gradP: make([]float64, d*d), sum: make([]float64, d), second: make([]float64, d*d), ps: make([]float64, d*d)}
	loss := b.Apply(graph.Op{Name: "gaussian complete",
		Kernel:   k.run,
		Constant: []bool{false, false, true, true, true},
		Reverse: func(out, gr graph.Node) []graph.Node {
			return []graph.Node{gradientOf(b, "gaussian complete'", 1, d, k.gradLinear, out, gr), gradientOf(b, "gaussian complete'", d, d, k.gradP, out, gr), nil, nil, nil}
		}}, g.LinearNode(b), g.PrecisionNode(b), rows.X, rows.Mask, rows.Weight)
	return Result{Surrogate: loss, Reported: loss}
}

// gradientOf is side, which the kernel of out leaves when it has run, times gr.
func gradientOf(b *graph.Builder, name string, rows, cols int, side []float64, out, gr graph.Node) graph.Node {
	return b.Apply(graph.Op{Name: name, Rows: rows, Cols: cols,
		Kernel: func(o []float64, in [][]float64) error {
			for i, v := range side {
				o[i] = in[1][0] * v
			}
			return nil
		}}, out, gr)
}

// completeKernel computes the loss and its gradients by η = Pμ and P from the moments of
// completed rows: their number A, S = Σ x̂ and M = Σ x̂x̂ᵀ + C, each row by its weight,
//
//	ψ = −2A tr P + A ηᵀη − 2ηᵀPS + tr(PMP),  ∂ψ/∂η = 2(Aη − PS),  ∂ψ/∂P = 2(PM − ηSᵀ − A I)
//
// Rows of one pattern share the factor of their missing block.
type completeKernel struct {
	d                 int
	gradLinear, gradP []float64
	number            float64
	sum, second, ps   []float64
	gaps, order       []int
	block, row        []float64
	right             []float64
}

func (c *completeKernel) run(out []float64, in [][]float64) error {
	d := c.d
	eta, p, x, mask, weight := in[0], in[1], in[2], in[3], in[4]
	c.number = 0
	clear(c.sum)
	clear(c.second)
	pattern := func(i int) []float64 { return mask[i*d : i*d+d] }
	c.order = c.order[:0]
	for i, w := range weight {
		if w != 0 {
			c.order = append(c.order, i)
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })
	for at := 0; at < len(c.order); {
		first, end := c.order[at], at
		for end < len(c.order) && slices.Equal(pattern(c.order[end]), pattern(first)) {
			end++
		}
		if err := c.add(eta, p, x, pattern(first), c.order[at:end], weight); err != nil {
			return err
		}
		at = end
	}
	out[0] = c.finish(eta, p)
	return nil
}

// add adds the moments of a pattern's rows.
func (c *completeKernel) add(eta, p, x, mask []float64, rows []int, weight []float64) error {
	d := c.d
	factor, err := c.factor(p, mask)
	if err != nil {
		return err
	}
	share := 0.0
	for _, i := range rows {
		w := weight[i]
		c.complete(eta, p, x[i*d:i*d+d], factor)
		share += w
		for j, v := range c.row {
			c.sum[j] += w * v
			to := c.second[j*d : j*d+d]
			for k, u := range c.row {
				to[k] += w * v * u
			}
		}
	}
	c.number += share
	m := len(c.gaps)
	if m == 0 {
		return nil
	}
	lapack64.Potri(factor)
	mirror(c.block, m)
	for a, j := range c.gaps {
		for b, k := range c.gaps {
			c.second[j*d+k] += share * c.block[a*m+b]
		}
	}
	return nil
}

// factor is the Cholesky factor of P_mm, m the gaps of a pattern, which it notes.
func (c *completeKernel) factor(p, mask []float64) (factor blas64.Triangular, err error) {
	c.gaps = c.gaps[:0]
	for j, o := range mask {
		if o == 0 {
			c.gaps = append(c.gaps, j)
		}
	}
	d, m := c.d, len(c.gaps)
	c.block, c.right, c.row = room(c.block, m*m), room(c.right, m), room(c.row, d)
	if m == 0 {
		return factor, nil
	}
	for a, j := range c.gaps {
		for b, k := range c.gaps {
			c.block[a*m+b] = p[j*d+k]
		}
	}
	factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: m, Stride: m, Data: c.block})
	if !ok {
		return factor, ErrNotPositiveDefinite
	}
	return factor, nil
}

// complete leaves in c.row the row x with x̂_m = P_mm⁻¹(η_m − P_mo x_o) in its gaps.
func (c *completeKernel) complete(eta, p, x []float64, factor blas64.Triangular) {
	copy(c.row, x)
	if len(c.gaps) == 0 {
		return
	}
	for a, j := range c.gaps {
		c.row[j] = 0
		c.right[a] = eta[j]
	}
	for a, j := range c.gaps {
		c.right[a] -= dot(p[j*c.d:j*c.d+c.d], c.row)
	}
	v := blas64.Vector{N: len(c.gaps), Inc: 1, Data: c.right}
	blas64.Trsv(blas.NoTrans, factor, v)
	blas64.Trsv(blas.Trans, factor, v)
	for a, j := range c.gaps {
		c.row[j] = c.right[a]
	}
}

// finish gives loss and gradients from the moments.
func (c *completeKernel) finish(eta, p []float64) (loss float64) {
	d := c.d
	square := func(x []float64) blas64.General { return blas64.General{Rows: d, Cols: d, Stride: d, Data: x} }
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, square(p), square(c.second), 0, square(c.ps))
	for j := range d {
		row, ps := p[j*d:j*d+d], dot(p[j*d:j*d+d], c.sum)
		loss += -2*c.number*p[j*d+j] + c.number*eta[j]*eta[j] - 2*eta[j]*ps + dot(c.ps[j*d:j*d+d], row)
		c.gradLinear[j] = 2 * (c.number*eta[j] - ps)
		for k := range d {
			c.gradP[j*d+k] = 2 * (c.ps[j*d+k] - eta[j]*c.sum[k])
		}
		c.gradP[j*d+j] -= 2 * c.number
	}
	return loss
}

// room is x with length n, its memory kept where that suffices.
func room(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
