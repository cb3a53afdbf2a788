package losses

import (
	"missingscore/graph"
	"missingscore/graph/model"
)

// Marginal is the marginal loss (M) by the pseudo-loss (P) of docs/theory/marginal.md#eq-pseudo-loss (paper,
// Proposition "grad first pseudo loss"): a scalar whose θ-gradient, at fixed draws, is
// that of (M),
//
//	J = Σ_i a_i { Σ_k sg(w_ik) h_ik + Σ_k sg(w_ik (h_ik − E_i[h])) log q_θ(x_ik) }
//
// with h of Parts and a_i the row's weight. Its value means nothing.
type Marginal struct{}

func (Marginal) Name() string { return "marginal" }
func (Marginal) Needs() LossNeeds {
	return LossNeeds{Density: true, Products: true, Assumes: MCAR}
}
func (Marginal) Check(model.Model, Objective) error { return nil }

// Add implements Loss.
func (Marginal) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	t := rows.Evaluate(b, m)
	parts := partsOf(b, o, rows, t)
	r := rows.R
	w := b.Detach(weightsOf(b, weighting, rows, t))
	mean := b.GroupMean(w, parts.Score, r)
	c2 := b.Scale(2, parts.Quadratic)

	var h, baseline graph.Node // (B, 1): h of a draw, and what stands for E_i[h]
	if cross, ok := weighting.(CrossAverages); ok {
		other := b.Detach(cross.Others(b, parts.Score, r))
		h = b.Add(parts.Linear, b.GroupDot(c2, b.Prod(other, parts.Score), r))
		baseline = b.Add(cross.Others(b, parts.Linear, r), b.GroupDot(c2, cross.OtherPairs(b, parts.Score, r), r))
	} else {
		h = b.Add(parts.Linear, b.GroupDot(b.Detach(b.Prod(c2, mean)), parts.Score, r))
		baseline = b.GroupRepeat(b.GroupMean(w, h, r), r)
	}
	covariance := b.Prod(b.Detach(b.Prod(w, b.Sub(h, baseline))), t.NeedLogDensity(b))
	each := b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Add(b.Prod(w, h), covariance))
	return Result{Surrogate: b.Sum(each), Reported: reported(b, parts, w, mean, rows), Weights: w}
}
