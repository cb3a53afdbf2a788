package losses

import (
	"errors"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Extension is a loss in a Gorgonia graph.
type Extension struct {
	*graph.Extension // nodes of the parameters; inputs by name
	Result

	x         graph.Node
	loss      Loss
	objective Objective
}

// Extend adds a loss to the float64 Gorgonia graph of the nodes x and mask: gorgonia.Grad
// differentiates Surrogate with respect to the nodes in Params; Reported is the value to show. x
// (b·r, d) are completed rows, r consecutive ones per table row; mask (b, d) is 1 where observed.
// It fails if Check does. Fill the other inputs by Bind. A weighting with a proposal also reads
// InputLogProposal (b·r, 1), the log density of the draws.
func Extend(x, mask graph.Node, l Loss, w Weighting, m model.Model, o Objective) (*Extension, error) {
	total, _ := graph.Shape(x)
	rows, d := graph.Shape(mask)
	if rows < 1 || total%rows != 0 || d != m.Dim() {
		return nil, errors.New("x must be (b·r, d) and mask (b, d), d the model's columns")
	}
	r := total / rows
	if err := check(l, w, m, o, r); err != nil {
		return nil, err
	}
	e := &Extension{x: x, loss: l, objective: o}
	var err error
	e.Extension, err = graph.Extend(x.Graph(), func(b *graph.Builder) {
		e.Result = add(b, l, w, m, o, Rows{R: r, X: x, Mask: mask,
			LogProposal: b.Input(InputLogProposal, total, 1), Weight: b.Input(InputWeight, rows, 1)})
	})
	if err != nil {
		return nil, err
	}
	observeAll(e)
	return e, nil
}

// Bind fills the inputs of Extend except InputLogProposal, for the batch whose rows are the values
// of x and mask. rng is for objectives that draw.
func (e *Extension) Bind(batch *data.Batch, rng *rand.Rand) {
	copy(e.Input(InputWeight), batch.Weight)
	bindLevels(e, batch)
	if e.loss.Needs().CompletedRows {
		batch = batch.Completed(e.x.Value().Data().([]float64), e.Input(inputAll))
	}
	e.objective.Bind(e, batch, rng)
}
