package extension

import (
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// Tempered weighs draws by (q/p')^Power: less than 1 keeps more of them, at the price of
// a bias towards the proposal.
type Tempered struct{ Power float64 }

func init() {
	w := Tempered{0.5}
	losses.Weightings[w.Name()] = w
	estimator.Register(estimator.Estimator{
		Name: "iw-tempered", Title: "Marg-IW, tempered", Note: "fixed proposal, square roots of the importance weights",
		Source: source.Proposal, Weighting: w, Loss: losses.Marginal,
	})
}

func (w Tempered) Name() string { return "tempered" }

// Needs implements losses.Weighting.
func (w Tempered) Needs() losses.WeightingNeeds {
	return losses.WeightingNeeds{Density: true, Proposal: true, Draws: 1}
}

// Check implements losses.Weighting: it is for the losses that importance weights are for.
func (w Tempered) Check(l losses.Loss) error { return losses.SelfNormalised.Check(l) }

// Weights implements losses.Weighting.
func (w Tempered) Weights(b *graph.Builder, rows losses.Rows, t model.Evaluation) graph.Node {
	return graph.GroupSoftmax(b, b.Scale(w.Power, b.Sub(t.NeedLogDensity(b), rows.LogProposal)), rows.R)
}
