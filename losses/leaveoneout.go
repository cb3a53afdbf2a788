package losses

import (
	"fmt"

	"missingscore/graph"
)

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
