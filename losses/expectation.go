package losses

import (
	"missingscore/graph"
)

// Expecting is a loss with LossNeeds.Moments whose expectation step is made without the loss,
// its gradient and an expression graph.
type Expecting interface {
	Loss
	// Expectation is that of a normal model of d columns.
	Expectation(d int) (*Expectation, error)
}

var _ Expecting = GaussianComplete{}

// Expectation implements Expecting.
func (GaussianComplete) Expectation(d int) (*Expectation, error) {
	gemm, err := graph.NewProduct()
	if err != nil {
		return nil, err
	}
	return &Expectation{newGaussianMoments(d, gemm)}, nil
}

// Expectation makes expectation steps of a normal model (docs/theory/complete-data.md#eq-moments),
// over parts of the rows one after the other. It is for one goroutine at a time.
type Expectation struct{ of *gaussianMoments }

// Over takes the moments of rows x (n, d), zero where missing, with linear part eta = Pμ (d) and
// precision p (d, d). It fails where p is not positive definite.
func (e *Expectation) Over(eta, p, x, mask, weight []float64, rows *RowPatterns) error {
	if err := e.of.prepare(p); err != nil {
		return err
	}
	e.of.solve(eta)
	e.of.rows = rows
	return e.of.moments(x, mask, weight)
}

// Moments sets out, (d+1, d+1), to the matrix Σ_i a_i E[(1, x−μ)(1, x−μ)ᵀ | x_o] of the last
// rows, and gives Σ_i a_i ψ_i and Σ_i a_i log p(x_o).
func (e *Expectation) Moments(out []float64) (loss, logLikelihood float64) {
	e.of.matrix(out)
	return e.of.loss(e.of.scratch), e.of.logLikelihood
}
