package losses

import (
	"errors"

	"missingscore/graph"
	"missingscore/graph/model"
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
func (p Pseudo) Add(b *graph.Builder, m model.Model, o Objective, rows Rows) Result {
	if p.Correction == LeaveOneOut && (p.Weighting != Uniform || rows.R < 3) {
		b.Fail(errors.New("leave-one-out needs uniform weights and at least 3 imputations per row"))
	}
	t := rows.terms(b, m)
	parts := o.Parts(b, rows, t)
	r := rows.R
	w := b.Detach(p.Weighting.weights(b, rows, t))
	mean := b.GroupMean(w, parts.Score, r)
	c2 := b.Scale(2, parts.Quadratic)

	var h, baseline graph.Node // (B, 1): h of a draw, and what stands for E_i[h]
	if p.Correction == LeaveOneOut {
		other := b.Detach(others(b, parts.Score, r))
		h = b.Add(parts.Linear, b.GroupDot(c2, b.Prod(other, parts.Score), r))
		baseline = b.Add(others(b, parts.Linear, r), b.GroupDot(c2, otherPairs(b, parts.Score, r), r))
	} else {
		h = b.Add(parts.Linear, b.GroupDot(b.Detach(b.Prod(c2, mean)), parts.Score, r))
		baseline = b.GroupRepeat(b.GroupMean(w, h, r), r)
	}
	covariance := b.Prod(b.Detach(b.Prod(w, b.Sub(h, baseline))), t.Density(b))
	each := b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Add(b.Prod(w, h), covariance))
	return Result{Surrogate: b.Sum(each), Reported: reported(b, parts, w, mean, rows), Weights: w}
}
