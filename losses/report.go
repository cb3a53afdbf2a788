package losses

import "missingscore/graph"

// reported is the marginal loss (M), Σ_i a_i Σ_j E_i[R_j] + c_j E_i[S_j]².
func reported(b *graph.Builder, p Parts, w graph.Node, rows Rows) graph.Node {
	linear := groupMean(b, w, p.Linear, rows.R)
	score := groupMean(b, w, p.Score, rows.R)
	each := b.RowSum(b.Add(linear, b.Prod(p.Quadratic, b.Square(score))))
	return b.Sum(b.Prod(rows.Weight, each))
}

// Direct is (M) differentiated through its weights. With self-normalised
// weights this is score matching on log Σ_k q_θ(x_ik)/p'(x_ik), the paper's
// Marg-IW objective (its Algorithm 1), and has the gradient of Pseudo with the
// same weights whenever p' does not depend on the observed cells.
type Direct struct{ Weighting Weighting }

// Add implements Loss.
func (l Direct) Add(b *graph.Builder, m graph.Model, o Objective, rows Rows) Result {
	t := m.Terms(b, rows.X)
	w := l.Weighting.weights(b, rows, t)
	loss := reported(b, o.Parts(b, rows, t), w, rows)
	return Result{Surrogate: loss, Reported: loss, Weights: w}
}
