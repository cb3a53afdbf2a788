package losses

import (
	"errors"

	"missingscore/graph"
)

// Correction says which average stands for E_i[·] where two averages over
// the same draws meet (maths.md, "Small r biases the plug-in gradient").
type Correction int

const (
	// PlugIn uses all r draws, as the paper does: bias O(1/r).
	PlugIn Correction = iota
	// LeaveOneOut uses, for draw k, the other draws: unbiased for r ≥ 3,
	// defined for uniform weights.
	LeaveOneOut
)

// Pseudo is the pseudo-loss (P) of maths.md (paper, Proposition "grad first
// pseudo loss"): a scalar whose θ-gradient, at fixed draws, is that of the
// marginal loss (M),
//
//	J = Σ_i a_i { Σ_k sg(w_ik) h_ik + Σ_k sg(w_ik (h_ik − E_i[h])) log q_θ(x_ik) }
//
// with h of Parts and a_i the row's weight. Its value means nothing.
type Pseudo struct {
	Weighting  Weighting
	Correction Correction
}

// Add implements Loss.
func (p Pseudo) Add(b *graph.Builder, m graph.Model, o Objective, rows Rows) Result {
	if p.Correction == LeaveOneOut && (p.Weighting != Uniform || rows.R < 3) {
		b.Fail(errors.New("leave-one-out needs uniform weights and at least 3 imputations per row"))
	}
	t := m.Terms(b, rows.X)
	parts := o.Parts(b, rows, t)
	w := b.Detach(p.Weighting.weights(b, rows, t))
	c := b.GroupRepeat(parts.Quadratic, rows.R)

	var mean, baseline graph.Node // of S (B, m), of h (B, 1), as draw k is to see them
	if p.Correction == LeaveOneOut {
		mean = others(b, parts.Score, rows.R)
		baseline = b.Add(others(b, b.RowSum(parts.Linear), rows.R),
			b.RowSum(b.Prod(b.Scale(2, c), otherPairs(b, parts.Score, rows.R))))
	} else {
		mean = expect(b, w, parts.Score, rows.R)
	}
	h := b.RowSum(b.Add(parts.Linear, b.Prod(b.Scale(2, c), b.Prod(b.Detach(mean), parts.Score))))
	if p.Correction == PlugIn {
		baseline = expect(b, w, h, rows.R)
	}
	covariance := b.Prod(b.Detach(b.Prod(w, b.Sub(h, baseline))), t.LogDensity)
	each := b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Add(b.Prod(w, h), covariance))
	return Result{Surrogate: b.Sum(each), Reported: reported(b, parts, w, rows), Weights: w}
}
