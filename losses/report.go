package losses

import (
	"missingscore/graph"
	"missingscore/graph/model"
)

// reported is the marginal loss (M), Σ_i a_i (E_i[R] + Σ_j c_j E_i[S_j]²), for
// mean = E_i[S] (b, m).
func reported(b *graph.Builder, p Parts, w, mean graph.Node, rows Rows) graph.Node {
	each := b.Add(b.GroupMean(w, p.Linear, rows.R), b.GroupSquares(p.Quadratic, mean, 1))
	return b.Sum(b.Prod(rows.Weight, each))
}

// Direct is (M) differentiated through its weights. With self-normalised
// weights this is score matching on log Σ_k q_θ(x_ik)/p'(x_ik), the paper's
// Marg-IW objective (its Algorithm 1), and has the gradient of Marginal with the
// same weights whenever p' does not depend on the observed cells.
type Direct struct{}

func (Direct) Name() string                       { return "direct" }
func (Direct) Needs() LossNeeds                   { return LossNeeds{Assumes: MCAR} }
func (Direct) Check(model.Model, Objective) error { return nil }

// Add implements Loss.
func (Direct) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	t := rows.Evaluate(b, m)
	w := weightsOf(b, weighting, rows, t)
	parts := partsOf(b, o, rows, t)
	loss := reported(b, parts, w, b.GroupMean(w, parts.Score, rows.R), rows)
	return Result{Surrogate: loss, Reported: loss, Weights: w}
}
