package debias

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/trainers/gaussian/mcem"
	"missingscore/internal/trainers/optim"
)

const (
	tolerance = 1e-4 // of P at the root; the Newton step refines it
	turns     = 200
	floor     = 1e-3 // of the eigenvalues of P
)

// StepInside finds the root θ̂ of the complete-data equation U(θ) = 0 on a domain with all pairs
// free, up to tolerance, and makes a Newton step:
//
//	θ̃ = θ̂ − J⁻¹U(θ̂),   cov θ̃ = J⁻¹ V J⁻ᵀ / (n − d − 1)
//
// J is the observed Jacobian Γ + K, and V the second moments of the rows' parts U_i at θ̂
// (mcem.Equation). V includes the Monte Carlo noise; n − d − 1 replaces n because each column's
// parameters are fitted. The columns are standardised; the search begins at start.
func StepInside(ctx context.Context, by mcem.Setting, start *model.Gaussian) (*Estimate, error) {
	d, n := by.Table.D, by.Table.N
	if n <= d+1 {
		return nil, noIntervals("there are no more rows than columns")
	}
	size := float64(d * (d + 3) / 2)
	if err := memory.Check(8*size*size*float64(6+3*max(1, by.Workers)), "take Spec.Inference bootstrap=N", "the errors of the %.0f parameters of %d columns", size, d); err != nil {
		return nil, err
	}
	m := model.NewGaussian(d, model.Natural)
	mcem.Put(m, mcem.Parameters(start))
	r, ok, err := by.ByPattern().Root(ctx, m, mcem.Everything(d), &optim.PositiveDefinite{Floor: floor}, tolerance, turns)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, noIntervals("the curvature of the loss is singular")
	case r.Bounded:
		return nil, noIntervals("the unpenalised precision is not positive definite")
	}
	step, jacobian, q, ok, err := r.Newton()
	if err != nil {
		return nil, err
	}
	var half, whole mat.Dense
	if !ok || jacobian.SolveTo(&half, false, q.Spread) != nil || jacobian.SolveTo(&whole, false, half.T()) != nil {
		return nil, noIntervals("the Jacobian of the equation is singular")
	}
	theta, e := r.Theta, &Estimate{Covariance: mat.NewSymDense(len(r.Theta), nil)}
	places := mcem.Everything(d).Places
	for a, i := range places {
		theta[i] -= step[a]
		for b, j := range places {
			e.Covariance.SetSym(i, j, (whole.At(a, b)+whole.At(b, a))/2/float64(n-d-1))
		}
	}
	e.Precision = graph.Unpack(d, theta[d:])
	contrasts := e.contrasts()
	e.errors(contrasts, variances(contrasts, e.Covariance, 1))
	return e, nil
}
