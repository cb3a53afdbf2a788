package losses

import (
	"fmt"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Weighting says how r draws become an expectation: E_i[f] = Σ_k w_ik f(x_ik). A new one
// is a type with these methods and a line in Weightings.
type Weighting interface {
	// Name is that in Weightings.
	Name() string
	// Needs is what it cannot do without.
	Needs() WeightingNeeds
	// Check says why it cannot be had with a loss, or nil.
	Check(l Loss) error
	// Weights adds w (B, 1), not detached.
	Weights(b *graph.Builder, rows Rows, t model.Evaluation) graph.Node
}

// weightsOf are w's at t. It stops the construction where there are none.
func weightsOf(b *graph.Builder, w Weighting, rows Rows, t model.Evaluation) graph.Node {
	n := w.Weights(b, rows, t)
	if n == nil {
		b.Failf("weighting %s gives no weights", w.Name())
	}
	return n
}

// WeightingNeeds are what a weighting needs.
type WeightingNeeds struct {
	Density  bool // the model's log density
	Proposal bool // the log density of the draws
	Draws    int  // so many of a row at least
}

// CrossAverages is a weighting that estimates for each draw from the row's other draws,
// so that products of two averages over the same draws have no bias. Losses in which
// such products occur (LossNeeds.Products) use it.
type CrossAverages interface {
	Weighting
	// Others is, for each draw, the mean of f (B, m) over the others.
	Others(b *graph.Builder, f graph.Node, r int) graph.Node
	// OtherPairs is, for each draw, the unbiased estimate of E[s]² (B, m) from the others.
	OtherPairs(b *graph.Builder, s graph.Node, r int) graph.Node
}

// Uniform is w_ik = 1/r: the draws come from the distribution meant. Where two averages
// meet, both are over all r draws, as in the paper: a bias of O(1/r).
type Uniform struct{}

func (Uniform) Name() string          { return "uniform" }
func (Uniform) Needs() WeightingNeeds { return WeightingNeeds{Draws: 1} }
func (Uniform) Check(Loss) error      { return nil }

// Weights implements Weighting.
func (Uniform) Weights(b *graph.Builder, rows Rows, _ model.Evaluation) graph.Node {
	share := 1 / float64(rows.R)
	return b.Map(&graph.Function{Name: "uniform", F: func(float64) float64 { return share }}, rows.LogProposal)
}

// SelfNormalised is w_ik ∝ q_θ(x_ik)/p'(x_ik), computed from logarithms.
type SelfNormalised struct{}

func (SelfNormalised) Name() string { return "self-normalised" }

// Needs implements Weighting.
func (SelfNormalised) Needs() WeightingNeeds {
	return WeightingNeeds{Density: true, Proposal: true, Draws: 1}
}

// Check implements Weighting.
func (SelfNormalised) Check(l Loss) error {
	if l.Needs().NoDraws {
		return fmt.Errorf("weighting self-normalised needs draws, and loss %s makes none: use uniform", l.Name())
	}
	return nil
}

// Weights implements Weighting.
func (SelfNormalised) Weights(b *graph.Builder, rows Rows, t model.Evaluation) graph.Node {
	return b.GroupSoftmax(b.Sub(t.NeedLogDensity(b), rows.LogProposal), rows.R)
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

// LeaveOneOut is uniform weights, but where two averages over the same draws meet, one of
// them is for draw k over the others (docs/theory/marginal.md#eq-leave-one-out):
// unbiased for r ≥ 3.
type LeaveOneOut struct{ Uniform }

func (LeaveOneOut) Name() string          { return "leave-one-out" }
func (LeaveOneOut) Needs() WeightingNeeds { return WeightingNeeds{Draws: 3} }

// Check implements Weighting.
func (LeaveOneOut) Check(l Loss) error {
	if !l.Needs().Products {
		return fmt.Errorf("weighting leave-one-out removes the bias of products of two averages over the same draws, and loss %s has none: use uniform", l.Name())
	}
	return nil
}

// Others implements CrossAverages: (Σ_l f_l − f_k)/(r−1).
func (LeaveOneOut) Others(b *graph.Builder, f graph.Node, r int) graph.Node {
	return b.Scale(1/float64(r-1), b.Sub(b.GroupRepeat(b.GroupSum(f, r), r), f))
}

// OtherPairs implements CrossAverages:
// u_k = ((Σ_{l≠k} s_l)² − Σ_{l≠k} s_l²)/((r−1)(r−2)).
func (w LeaveOneOut) OtherPairs(b *graph.Builder, s graph.Node, r int) graph.Node {
	sum := w.Others(b, s, r)              // Σ/(r−1)
	square := w.Others(b, b.Square(s), r) // Σ²/(r−1)
	n := float64(r - 1)
	return b.Scale(1/(n*float64(r-2)), b.Sub(b.Scale(n*n, b.Square(sum)), b.Scale(n, square)))
}
