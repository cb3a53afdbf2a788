package debias

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/trainers/gaussian/mcem"
	"missingscore/internal/trainers/optim"
)

// Inside is a table on a domain with bounds, and a normal distribution to start at.
type Inside struct {
	Table   *data.Table // columns standardised
	Domain  *domain.Domain
	Weight  domain.Weight
	Start   *model.Gaussian
	Draws   int // per row with missing cells; 0: the default of mcem.Setting
	Seed    uint64
	Workers int
}

const (
	tolerance = 1e-4 // of P at the root; the Newton step refines it
	turns     = 200
	floor     = 1e-3 // of the eigenvalues of P
)

// StepInside finds the root θ̂ of the complete-data equation U(θ) = 0 with all pairs free, up to
// tolerance, and makes a Newton step:
//
//	θ̃ = θ̂ − J⁻¹U(θ̂),   cov θ̃ = J⁻¹ V J⁻ᵀ / (n − d − 1)
//
// J is the observed Jacobian Γ + K, and V the second moments of the rows' parts U_i at θ̂
// (mcem.Equation). V includes the Monte Carlo noise; n − d − 1 replaces n because each column's
// parameters are fitted.
func StepInside(ctx context.Context, p Inside) (*Estimate, error) {
	d, n := p.Table.D, p.Table.N
	if n <= d+1 {
		return nil, noIntervals("there are no more rows than columns")
	}
	size := float64(d * (d + 3) / 2)
	if err := memory.Check(8*size*size*float64(6+3*max(1, p.Workers)), "take Spec.Inference bootstrap=N", "the errors of the %.0f parameters of %d columns", size, d); err != nil {
		return nil, err
	}
	r, free, err := p.root(ctx)
	if err != nil {
		return nil, err
	}
	all := mcem.Everything(d)
	step, jacobian, q, ok, err := r.Newton()
	if err != nil {
		return nil, err
	}
	var half, whole mat.Dense
	if !ok || jacobian.SolveTo(&half, false, q.Spread) != nil || jacobian.SolveTo(&whole, false, half.T()) != nil {
		return nil, noIntervals("the Jacobian of the equation is singular")
	}
	theta := r.Theta
	e := &Estimate{Covariance: mat.NewSymDense(len(theta), nil), Free: free}
	for a, i := range all.Places {
		theta[i] -= step[a]
		for b, j := range all.Places {
			e.Covariance.SetSym(i, j, (whole.At(a, b)+whole.At(b, a))/2/float64(n-d-1))
		}
	}
	e.Precision = graph.Unpack(d, theta[d:])
	contrasts := e.contrasts()
	variances := make([]float64, len(contrasts))
	for i, c := range contrasts {
		for a, x := range c.w {
			for b, y := range c.w {
				variances[i] += x * y * e.Covariance.At(c.at[a], c.at[b])
			}
		}
	}
	e.errors(contrasts, variances)
	return e, nil
}

// root returns the root with all pairs free; else the start with rows drawn from it.
func (p Inside) root(ctx context.Context) (r *mcem.Root, free bool, err error) {
	by := mcem.Setting{Table: p.Table, Domain: p.Domain, Weight: p.Weight, Draws: p.Draws, Seed: p.Seed, Workers: p.Workers}.ByPattern()
	m := model.NewGaussian(p.Table.D, model.Natural)
	mcem.Put(m, mcem.Parameters(p.Start))
	r, ok, err := by.Root(ctx, m, mcem.Everything(p.Table.D), &optim.PositiveDefinite{Floor: floor}, tolerance, turns)
	switch {
	case err == nil && !ok:
		return nil, false, noIntervals("the curvature of the loss is singular")
	case err != nil || !r.Bounded:
		return r, true, err
	}
	r.Theta = mcem.Parameters(p.Start)
	mcem.Put(m, r.Theta)
	if r.Rows, err = by.Draw(m); err != nil {
		return nil, false, err
	}
	r.Form, err = r.Rows.Form()
	return r, false, err
}
