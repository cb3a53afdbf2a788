package debias

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
)

// likelihood are the moments of −log p(x_o) under N(μ, P⁻¹), by θ = (μ, P): em-exact's
// equation has its root (docs/theory/inference.md#eq-likelihood).
//
//	∂/∂μ = −Pδ̂,   ∂/∂P = ½(δ̂δ̂ᵀ − Σ̃)
//	expected Hessian:  dμᵀPΣ̃P dμ + ½ tr(dP Σ̃ dP Σ̃)
//
// which is the covariance of a gradient by the model, too.
func likelihood(t *data.Table, n *normal, keep, observe bool, workers int) (*moments, error) {
	d := n.d
	m := newMoments(d, t.N, keep, workers)
	f, location := newForm(d, workers), mat.NewDense(d, d, nil)
	var o *observation
	if observe {
		o = newObservation(d, workers)
	}
	err := n.eachPattern(t, workers, func(q *pattern) {
		var slope, block mat.Dense
		slope.Mul(q.delta, n.p)
		for a := range q.rows {
			x, mu := q.delta.RawRowView(a), slope.RawRowView(a)
			floats.Scale(-1, mu)
			m.take(q.count[a], t.Weights != nil, mu, func(j, k int) float64 { return 0.5 * (x[j]*x[k] - q.s.At(j, k)) })
		}
		f.add(q.share/2, q.s, q.s)
		block.Mul(n.p, q.w) // PΣ̃P
		block.Scale(q.share, &block)
		location.Add(location, &block)
		if observe {
			o.take(q)
		}
	})
	if err != nil {
		return nil, err
	}
	m.average()
	if err := f.matrix(m.hessian); err != nil {
		return nil, err
	}
	setLocation(m.hessian, location)
	if observe {
		m.observed, err = o.added(m.hessian)
	}
	return m, err
}

// observation is what the likelihood's observed Hessian has more than the expected
// (docs/theory/inference.md#eq-observed), whose mean is 0 under MCAR but not under MAR:
//
//	tr(dP C dP (Σ̃ − δ̂δ̂ᵀ)) − 2 dμᵀ(I − PC) dP δ̂
type observation struct {
	d     int
	form  *form
	cross *mat.Dense // by μ and packed P
}

func newObservation(d, workers int) *observation {
	return &observation{d: d, form: newForm(d, workers), cross: mat.NewDense(d, d*(d+1)/2, nil)}
}

// take adds a pattern.
func (o *observation) take(q *pattern) {
	rows := floats.Sum(q.count)
	weighted := mat.DenseCopyOf(q.delta)
	for a, n := range q.count {
		floats.Scale(math.Sqrt(n), weighted.RawRowView(a))
	}
	var second mat.SymDense
	second.SymOuterK(-1/rows, weighted.T())
	second.AddSym(&second, q.s)
	o.form.add(q.share, q.c, &second)
	sum := make([]float64, o.d)
	for a := range q.rows {
		floats.AddScaled(sum, q.share*q.count[a]/rows, q.delta.RawRowView(a))
	}
	for a := range o.d { // W = I − CP
		row := o.cross.RawRowView(a)
		for j := range o.d {
			for k := j; k < o.d; k++ {
				v := q.w.At(j, a) * sum[k]
				if j != k {
					v += q.w.At(k, a) * sum[j]
				}
				row[graph.PackedIndex(o.d, j, k)] -= v
			}
		}
	}
}

// added is the observed Hessian, with the expected one given.
func (o *observation) added(expected *mat.SymDense) (*mat.SymDense, error) {
	h := mat.NewSymDense(expected.SymmetricDim(), nil)
	if err := o.form.matrix(h); err != nil {
		return nil, err
	}
	for a := range o.d {
		for at, v := range o.cross.RawRowView(a) {
			h.SetSym(a, o.d+at, v)
		}
	}
	h.AddSym(h, expected)
	return h, nil
}
