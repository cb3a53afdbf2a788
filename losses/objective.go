package losses

import "missingscore/graph"

// Parts are what an objective is made of. Every objective of the paper is,
// per table row, with m score terms j,
//
//	ℓ = E[R] + Σ_j c_j E[S_j]²
//
// with E the expectation over imputations. From it follow, once and for all,
// the reported loss, the pseudo-loss with h = R + Σ_j 2 c_j sg(E[S_j]) S_j, and the
// loss of a completed row, R + Σ_j c_j S_j².
type Parts struct {
	Linear    graph.Node // R (B, 1)
	Score     graph.Node // S (B, m)
	Quadratic graph.Node // c (b, m), constant
}

// Objective gives the parts for a model's terms at the completed rows.
type Objective interface {
	// Parts adds the parts, and the inputs that the objective has of its own.
	Parts(b *graph.Builder, rows Rows, t graph.Terms) Parts
	// Bind fills those inputs for rows x with masks (both as Rows.Mask: (b, d)).
	Bind(p *graph.Program, x, mask []float64)
}

// Classical is Hyvärinen's objective on the observed coordinates Λ
// (paper, equation of the marginal loss; maths.md, formula M with g ≡ 1):
//
//	R = Σ_{j∈Λ} 2D_j + 2s_j²,  S = s,  c_j = −1 for j ∈ Λ, else 0
//
// so that a completed row has the loss Σ_{j∈Λ} 2D_j + s_j². Units: 1/x².
type Classical struct{}

// Parts implements Objective.
func (Classical) Parts(b *graph.Builder, rows Rows, t graph.Terms) Parts {
	twice := b.Scale(2, rows.Mask)
	return Parts{
		Linear:    b.Add(b.GroupDot(twice, t.Diagonal, rows.R), b.GroupSquares(twice, t.Score, rows.R)),
		Score:     t.Score,
		Quadratic: b.Scale(-1, rows.Mask),
	}
}

// Bind implements Objective.
func (Classical) Bind(*graph.Program, []float64, []float64) {}
