package debias

import (
	"cmp"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// marginal are the moments of the marginal loss −2 tr Q + ‖Q(x − μ)_o‖² on all of R^d, by
// θ = (μ, P) (docs/theory/inference.md#eq-marginal). With y = Pδ̂, which is 0 in the gaps,
// and B = WWᵀ:
//
//	∂/∂μ = −2PWy,   ∂/∂P = −2B + δ̂(Wy)ᵀ + (Wy)δ̂ᵀ
//	expected Hessian:  2 dμᵀPBP dμ + 2 tr(dP Σ̃ dP B)
//	covariance of a gradient by the model:  4 dμᵀPBPBP dμ + 4 tr(dP B dP B) + 4 tr(dP BPB dP Σ̃)
//
// They are right under MCAR, as the loss is. Without gaps it is score matching's own.
func marginal(t *data.Table, n *normal, keep bool, workers int) (*moments, error) {
	d := n.d
	m := newMoments(d, t.N, keep, workers)
	second, own := newForm(d, workers), newForm(d, workers)
	curvature, spread := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	err := n.eachPattern(t, workers, func(q *pattern) {
		var b mat.SymDense
		b.SymOuterK(1, q.w)
		var y, slope mat.Dense
		y.Mul(q.delta, n.p)
		y.Mul(&y, q.w.T())
		slope.Mul(&y, n.p)
		for a := range q.rows {
			x, v, mu := q.delta.RawRowView(a), y.RawRowView(a), slope.RawRowView(a)
			floats.Scale(-2, mu)
			m.take(q.count[a], t.Weights != nil, mu, func(j, k int) float64 { return -2*b.At(j, k) + x[j]*v[k] + v[j]*x[k] })
		}
		var pb, pbp, bpb, pbpbp mat.Dense
		pb.Mul(n.p, mat.DenseCopyOf(&b)) // by BLAS, which gonum has not got for two SymDense
		pbp.Mul(&pb, n.p)
		bpb.Mul(&b, &pb)
		pbpbp.Mul(&pb, &pbp)
		second.add(2*q.share, q.s, &b)
		own.add(4*q.share, &b, &b)
		own.add(4*q.share, symmetric(&bpb), q.s)
		pbp.Scale(2*q.share, &pbp)
		pbpbp.Scale(4*q.share, &pbpbp)
		curvature.Add(curvature, &pbp)
		spread.Add(spread, &pbpbp)
	})
	if err != nil {
		return nil, err
	}
	m.average()
	m.variance = mat.NewSymDense(parameters(d), nil)
	if err := cmp.Or(second.matrix(m.hessian), own.matrix(m.variance)); err != nil {
		return nil, err
	}
	setLocation(m.hessian, curvature)
	setLocation(m.variance, spread)
	return m, nil
}
