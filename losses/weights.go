package losses

import (
	"missingscore/graph"
	"missingscore/graph/model"
)

// Weighting says how r draws become an expectation: E_i[f] = Σ_k w_ik f(x_ik).
type Weighting int

const (
	// Uniform is w_ik = 1/r: the draws come from the distribution meant.
	Uniform Weighting = iota
	// SelfNormalised is w_ik ∝ q_θ(x_ik)/p'(x_ik), computed from logarithms.
	SelfNormalised
)

// weights adds w (B, 1), not detached.
func (w Weighting) weights(b *graph.Builder, rows Rows, t model.Evaluation) graph.Node {
	if w == SelfNormalised {
		return b.GroupSoftmax(b.Sub(t.Density(b), rows.LogProposal), rows.R)
	}
	share := 1 / float64(rows.R)
	return b.Map(&graph.Function{Name: "uniform", F: func(float64) float64 { return share }}, rows.LogProposal)
}

// EffectiveSize is 1/Σ_k w_ik² of each table row, between 1 (one draw decides)
// and r (all draws count alike). w is (b·r), the result has one number a row.
func EffectiveSize(dst, w []float64, r int) []float64 {
	dst = dst[:0]
	for i := 0; i < len(w); i += r {
		sum := 0.0
		for _, v := range w[i : i+r] {
			sum += v * v
		}
		dst = append(dst, 1/sum)
	}
	return dst
}
