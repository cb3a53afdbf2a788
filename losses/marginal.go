package losses

import (
	"missingscore/graph"
	"missingscore/graph/model"
)

// Marginal is the marginal loss (M) by the pseudo-loss (P) of
// docs/theory/marginal.md#eq-pseudo-loss (paper, Proposition "grad first pseudo loss"): a scalar
// whose θ-gradient, at fixed draws, is that of (M),
//
//	J = Σ_i a_i { Σ_k sg(w_ik) h_ik + Σ_k sg(w_ik (h_ik − E_i[h])) log q_θ(x_ik) }
//
// with h of Parts and a_i the row's weight. The value of J is meaningless.
var Marginal Loss = marginal{}

type marginal struct{}

func (marginal) Name() string { return "marginal" }
func (marginal) Needs() LossNeeds {
	return LossNeeds{Density: true, Products: true, Assumes: MCAR}
}
func (marginal) Check(model.Model, Objective) error { return nil }

func (marginal) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	t := rows.Evaluate(b, m)
	parts := partsOf(b, o, rows, t)
	r := rows.R
	w := graph.Detach(b, weightsOf(b, weighting, rows, t))
	mean := graph.GroupMean(b, w, parts.Score, r)
	c2 := b.Scale(2, parts.Quadratic)

	var h, baseline graph.Node // (B, 1): h of a draw, and the estimate of E_i[h]
	if cross, ok := weighting.(leaveOneOut); ok {
		other := graph.Detach(b, cross.others(b, parts.Score, r))
		h = b.Add(parts.Linear, b.GroupDot(c2, b.Prod(other, parts.Score), r))
		baseline = b.Add(cross.others(b, parts.Linear, r), b.GroupDot(c2, cross.otherPairs(b, parts.Score, r), r))
	} else {
		h = b.Add(parts.Linear, b.GroupDot(graph.Detach(b, b.Prod(c2, mean)), parts.Score, r))
		baseline = b.GroupRepeat(graph.GroupMean(b, w, h, r), r)
	}
	covariance := b.Prod(graph.Detach(b, b.Prod(w, b.Sub(h, baseline))), t.NeedLogDensity(b))
	each := b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Add(b.Prod(w, h), covariance))
	return Result{Surrogate: b.Sum(each), Reported: reported(b, parts, w, mean, rows), Weights: w}
}

// reported returns the marginal loss (M), Σ_i a_i (E_i[R] + Σ_j c_j E_i[S_j]²), with mean = E_i[S]
// (b, m).
func reported(b *graph.Builder, p Parts, w, mean graph.Node, rows Rows) graph.Node {
	each := b.Add(graph.GroupMean(b, w, p.Linear, rows.R), graph.GroupSquares(b, p.Quadratic, mean, 1))
	return b.Sum(b.Prod(rows.Weight, each))
}

// Direct is (M) differentiated through its weights. With self-normalised weights it is score
// matching on log Σ_k q_θ(x_ik)/p'(x_ik), the paper's Marg-IW objective (Algorithm 1). Its gradient
// equals that of Marginal with the same weights if p' does not depend on the observed cells.
var Direct Loss = direct{}

type direct struct{}

func (direct) Name() string                       { return "direct" }
func (direct) Needs() LossNeeds                   { return LossNeeds{Assumes: MCAR} }
func (direct) Check(model.Model, Objective) error { return nil }

func (direct) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	t := rows.Evaluate(b, m)
	w := weightsOf(b, weighting, rows, t)
	parts := partsOf(b, o, rows, t)
	loss := reported(b, parts, w, graph.GroupMean(b, w, parts.Score, rows.R), rows)
	return Result{Surrogate: loss, Reported: loss, Weights: w}
}
