package path

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"missingscore/trainers/engine"
)

// informed scores each α where the rows are known by their moments, so that none can be held
// out: by the log likelihood of the pilot less its degrees of freedom, as Akaike does
// (docs/theory/penalties.md#eq-ridge-freedom).
func (r *Run) informed(ctx context.Context) error {
	s := &r.State.Pilot
	if s.Held != nil {
		return nil
	}
	f, err := r.newPilotFit(r.rows, r.Engine.Config.Workers)
	if err != nil {
		return err
	}
	scores := make([]float64, 0, len(pilotAlphas))
	for _, alpha := range pilotAlphas {
		err := f.fit(ctx, alpha)
		if engine.Diverged(err) {
			break
		}
		if err != nil {
			return err
		}
		step, err := f.Engine.Gradient(0, f.Rows, 1)
		if err != nil {
			return err
		}
		scores = append(scores, step.LogLikelihood-freedom(f.Model.Precision(), alpha))
	}
	s.Held = [][]float64{scores}
	return r.save()
}

// freedom is how many parameters a ridge estimate P = ((1 − α) S + α diag S)⁻¹ counts for: by
// how much its likelihood is greater in the rows that it was fitted to than in others,
//
//	½ Σ_jk a_jk (M_jk M_kj + M_jj M_kk),   M = PS,   a_jk = 1 − α, a_jj = 1
//
// which is d(d+1)/2 without shrinkage.
func freedom(p *mat.SymDense, alpha float64) (sum float64) {
	var factor mat.Cholesky
	var s mat.SymDense
	if !factor.Factorize(p) || factor.InverseTo(&s) != nil {
		return 0
	}
	d := p.SymmetricDim()
	for j := range d {
		for k := j + 1; k < d; k++ {
			s.SetSym(j, k, s.At(j, k)/(1-alpha))
		}
	}
	var m mat.Dense
	m.Mul(p, &s)
	for j := range d {
		for k := range d {
			a := 1 - alpha
			if j == k {
				a = 1
			}
			sum += a * (m.At(j, k)*m.At(k, j) + m.At(j, j)*m.At(k, k)) / 2
		}
	}
	return sum
}
