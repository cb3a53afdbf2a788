package mcem

import (
	"gonum.org/v1/gonum/mat"
)

// Judge compares networks by the loss of one completion of the rows, drawn from a reference
// distribution, a root on its own network (docs/theory/path.md#eq-ebic-domain).
type Judge struct {
	root  *Root
	steps *mat.Dense // (rows, members of its support): J⁻¹U of each row
	inner *mat.Dense // second moments of steps, mean over rows
}

// NewJudge is for the rows of a root; ok is false if the Jacobian of its equation is singular.
func NewJudge(r *Root) (j *Judge, ok bool, err error) {
	_, jacobian, _, ok, err := r.Newton()
	if err != nil || !ok {
		return nil, false, err
	}
	n, q := r.Rows.Count(), r.on.Size()
	j = &Judge{root: r, steps: mat.NewDense(n, q, nil), inner: new(mat.Dense)}
	if err := r.Rows.share(0, parts, func(_, from, to int) error {
		var solved mat.Dense
		u := r.Rows.means(r.Rows.gradients(r.on, r.Theta, from, to), from, to)
		_ = jacobian.SolveTo(&solved, false, u.T()) // Newton has checked the condition number
		j.steps.Slice(from, to, 0, q).(*mat.Dense).Copy(solved.T())
		return nil
	}); err != nil {
		return nil, false, err
	}
	j.inner.Mul(j.steps.T(), j.steps)
	j.inner.Scale(1/float64(n), j.inner)
	return j, true, nil
}

type Verdict struct {
	Theta []float64 // of least loss
	Loss  float64   // ψ at Theta, mean over rows
	Edges float64   // expected decrease of n ψ by the edges if none is true
}

// Network evaluates the network of s; ok is false if the loss has no minimum.
func (j *Judge) Network(s *Support) (v Verdict, ok bool, err error) {
	var factor *mat.Cholesky
	if v.Theta, v.Loss, factor, ok = j.root.Form.minimum(s); !ok {
		return v, false, nil
	}
	spread, err := j.spread(s, v.Theta)
	if err != nil {
		return v, false, err
	}
	all, ok := trace(factor, spread)
	if !ok {
		return v, false, nil
	}
	own, ownSpread := mat.NewSymDense(len(s.own), nil), mat.NewDense(len(s.own), len(s.own), nil)
	gamma := j.root.Form.curvature(s)
	for a, p := range s.own {
		for b, q := range s.own {
			ownSpread.Set(a, b, spread.At(p, q))
			own.SetSym(a, b, gamma.At(p, q))
		}
	}
	var without mat.Cholesky
	if !without.Factorize(own) {
		return v, false, nil
	}
	least, ok := trace(&without, ownSpread)
	v.Edges = all - least
	return v, ok, nil
}

func trace(gamma *mat.Cholesky, v *mat.Dense) (t float64, ok bool) {
	var solved mat.Dense
	if gamma.SolveTo(&solved, v) != nil {
		return 0, false
	}
	return mat.Trace(&solved), true
}

// spread returns V, the second moments of the rows' gradients of ½ψ at θ by the members of s,
// corrected for the error of the reference:
//
//	G_i = U_i − K J⁻¹U_i(reference)
func (j *Judge) spread(s *Support, theta []float64) (*mat.Dense, error) {
	c, p, q := j.root.Rows, s.Size(), j.root.on.Size()
	cut := func(sums []float64) (own, cross, drift *mat.Dense) {
		return mat.NewDense(p, p, sums[:p*p]), mat.NewDense(p, q, sums[p*p:p*p+p*q]), mat.NewDense(p, q, sums[p*p+p*q:])
	}
	sums, err := c.summed(p*p+2*p*q, func(into []float64, from, to int) {
		own, cross, drift := cut(into)
		u := c.gradients(s, theta, from, to)
		means := c.means(u, from, to)
		own.Mul(means.T(), means)
		cross.Mul(means.T(), j.steps.Slice(from, to, 0, q))
		c.covariance(drift, u, means, c.statistics(j.root.on, from, to), from, to)
	})
	if err != nil {
		return nil, err
	}
	own, cross, drift := cut(sums)
	n := float64(c.Count())
	own.Scale(1/n, own)
	cross.Scale(1/n, cross)
	var there, back mat.Dense
	there.Mul(cross, drift.T())
	back.Mul(drift, j.inner)
	own.Sub(own, &there)
	own.Sub(own, there.T())
	there.Mul(&back, drift.T())
	own.Add(own, &there)
	return own, nil
}
