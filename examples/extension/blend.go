package extension

import (
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// Blend is a share of the marginal loss, the rest that of completed rows.
type Blend struct{ Share float64 }

func init() {
	l := Blend{0.5}
	losses.Losses[l.Name()] = l
	estimator.Register(estimator.Estimator{
		Name: "blend", Title: "Half Marg-IW, half EM", Note: "fixed proposal, the mean of two losses",
		Source: source.Proposal, Weighting: losses.SelfNormalised, Loss: l,
	})
}

func (l Blend) Name() string                                  { return "blend" }
func (l Blend) Needs() losses.LossNeeds                       { return losses.LossNeeds{Density: true, Assumes: losses.MCAR} }
func (l Blend) Check(m model.Model, o losses.Objective) error { return losses.Marginal.Check(m, o) }

// Add implements losses.Loss.
func (l Blend) Add(b *graph.Builder, m model.Model, o losses.Objective, rows losses.Rows, w losses.Weighting) losses.Result {
	one, other := losses.Marginal.Add(b, m, o, rows, w), losses.Complete.Add(b, m, o, rows, w)
	mix := func(x, y graph.Node) graph.Node { return b.Add(b.Scale(l.Share, x), b.Scale(1-l.Share, y)) }
	return losses.Result{Surrogate: mix(one.Surrogate, other.Surrogate), Reported: mix(one.Reported, other.Reported), Weights: one.Weights}
}
