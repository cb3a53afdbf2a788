package losses

import (
	"fmt"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Weighting estimates expectations from r draws: E_i[f] = Σ_k w_ik f(x_ik).
type Weighting interface {
	Name() string
	Needs() WeightingNeeds
	Check(l Loss) error
	// Weights adds w (B, 1), not detached.
	Weights(b *graph.Builder, rows Rows, t model.Evaluation) graph.Node
}

func weightsOf(b *graph.Builder, w Weighting, rows Rows, t model.Evaluation) graph.Node {
	n := w.Weights(b, rows, t)
	if n == nil {
		b.Failf("weighting %s gives no weights", w.Name())
	}
	return n
}

// WeightingNeeds are the requirements of a weighting.
type WeightingNeeds struct {
	Density  bool // the model's log density
	Proposal bool // the log density of the draws
	Draws    int  // minimum number of draws per row
}

// Uniform is w_ik = 1/r, for draws from the target distribution. Products of averages use all r
// draws, as in the paper, with a bias of O(1/r).
var Uniform Weighting = uniform{}

type uniform struct{}

func (uniform) Name() string          { return "uniform" }
func (uniform) Needs() WeightingNeeds { return WeightingNeeds{Draws: 1} }
func (uniform) Check(Loss) error      { return nil }

func (uniform) Weights(b *graph.Builder, rows Rows, _ model.Evaluation) graph.Node {
	share := 1 / float64(rows.R)
	return b.Map(&graph.Function{Name: "uniform", F: func(float64) float64 { return share }}, rows.LogProposal)
}

// SelfNormalised is w_ik ∝ q_θ(x_ik)/p'(x_ik), computed on the log scale.
var SelfNormalised Weighting = selfNormalised{}

type selfNormalised struct{}

func (selfNormalised) Name() string { return "self-normalised" }

func (selfNormalised) Needs() WeightingNeeds {
	return WeightingNeeds{Density: true, Proposal: true, Draws: 1}
}

func (selfNormalised) Check(l Loss) error {
	if l.Needs().NoDraws {
		return fmt.Errorf("weighting self-normalised needs draws, and loss %s makes none: use uniform", l.Name())
	}
	return nil
}

func (selfNormalised) Weights(b *graph.Builder, rows Rows, t model.Evaluation) graph.Node {
	return graph.GroupSoftmax(b, b.Sub(t.NeedLogDensity(b), rows.LogProposal), rows.R)
}

// EffectiveSize writes 1/Σ_k w_ik² for each table row, between 1 and r. w is (b·r); dst has one
// number per row.
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

// LeaveOneOut has uniform weights; in products of averages, one average leaves out draw k
// (docs/theory/marginal.md#eq-leave-one-out). It is unbiased for r ≥ 3.
var LeaveOneOut Weighting = leaveOneOut{}

type leaveOneOut struct{ uniform }

func (leaveOneOut) Name() string          { return "leave-one-out" }
func (leaveOneOut) Needs() WeightingNeeds { return WeightingNeeds{Draws: 3} }

func (leaveOneOut) Check(l Loss) error {
	if !l.Needs().Products {
		return fmt.Errorf("weighting leave-one-out removes the bias of products of two averages over the same draws, and loss %s has none: use uniform", l.Name())
	}
	return nil
}

// others is, for each draw, the mean of f (B, m) over the other draws, (Σ_l f_l − f_k)/(r−1).
func (leaveOneOut) others(b *graph.Builder, f graph.Node, r int) graph.Node {
	return b.Scale(1/float64(r-1), b.Sub(b.GroupRepeat(b.GroupSum(f, r), r), f))
}

// otherPairs is, for each draw, the unbiased estimate of E[s]² (B, m) from the other draws,
// ((Σ_{l≠k} s_l)² − Σ_{l≠k} s_l²)/((r−1)(r−2)).
func (w leaveOneOut) otherPairs(b *graph.Builder, s graph.Node, r int) graph.Node {
	sum := w.others(b, s, r)                         // Σ/(r−1)
	square := w.others(b, b.Map(graph.Square, s), r) // Σ²/(r−1)
	n := float64(r - 1)
	return b.Scale(1/(n*float64(r-2)), b.Sub(b.Scale(n*n, b.Map(graph.Square, sum)), b.Scale(n, square)))
}
