package losses

import (
	"errors"

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
// It fails where P is not positive definite.
type GaussianComplete struct{}

func (GaussianComplete) Name() string { return "gaussian-complete" }
func (GaussianComplete) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Equation: true, Moments: true}
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
	k := &completeKernel{gaussianMoments: newGaussianMoments(d, b.Product()), gradLinear: make([]float64, d), gradP: make([]float64, d*d)}
	loss := b.Apply(graph.Op{Name: "gaussian complete",
		Kernel:   k.run,
		Constant: []bool{false, false, true, true, true},
		Reverse: func(out, gr graph.Node) []graph.Node {
			return []graph.Node{gradientOf(b, "gaussian complete'", 1, d, k.gradLinear, out, gr), gradientOf(b, "gaussian complete'", d, d, k.gradP, out, gr), nil, nil, nil}
		}}, g.LinearNode(b), g.PrecisionNode(b), rows.X, rows.Mask, rows.Weight)
	b.Output(OutputMoments, b.Apply(graph.Op{Name: "moments", Rows: d + 1, Cols: d + 1, Kernel: func(out []float64, _ [][]float64) error { k.matrix(out); return nil }}, loss))
	b.Output(OutputLogLikelihood, b.Apply(graph.Op{Name: "log likelihood",
		Kernel: func(out []float64, _ [][]float64) error { out[0] = k.logLikelihood; return nil }}, loss))
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
// completed rows (gaussianMoments) about the present mean,
//
//	ψ = −2A tr P + tr(PMP),   ∂ψ/∂η = −2PS,   ∂ψ/∂P = 2(PM + PSμᵀ − A I)
type completeKernel struct {
	*gaussianMoments
	gradLinear, gradP []float64
}

func (c *completeKernel) run(out []float64, in [][]float64) error {
	eta, p, x, mask, weight := in[0], in[1], in[2], in[3], in[4]
	if err := c.collect(eta, p, x, mask, weight); err != nil {
		return err
	}
	d := c.d
	out[0] = c.loss(c.gradP)
	for j := range d {
		ps := dot(p[j*d:j*d+d], c.sum)
		c.gradLinear[j] = -2 * ps
		for k := range d {
			c.gradP[j*d+k] = 2 * (c.gradP[j*d+k] + ps*c.mu[k])
		}
		c.gradP[j*d+j] -= 2 * c.number
	}
	return nil
}
