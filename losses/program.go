package losses

import (
	"fmt"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
)

func check(l Loss, w Weighting, m model.Model, o Objective, r int) error {
	if err := w.Check(l); err != nil {
		return err
	}
	if err := l.Check(m, o); err != nil {
		return fmt.Errorf("loss %s: %w", l.Name(), err)
	}
	if l.Needs().NoDraws && r != 1 {
		return fmt.Errorf("loss %s uses closed-form expectations: take 1 draw per row, not %d", l.Name(), r)
	}
	if least := w.Needs().Draws; r < least {
		return fmt.Errorf("weighting %s needs at least %d draws per row, not %d", w.Name(), least, r)
	}
	return nil
}

// New builds the program of one parameter step: inputs, surrogate, its gradient, reported loss,
// and weights if any. It fails if Check does.
func New(t graph.DType, l Loss, w Weighting, m model.Model, o Objective, b, r int) (*graph.Program, error) {
	if err := check(l, w, m, o, r); err != nil {
		return nil, err
	}
	p, err := graph.BuildAs(t, func(g *graph.Builder) {
		d := m.Dim()
		res := add(g, l, w, m, o, Rows{
			R:           r,
			X:           g.Input(InputX, b*r, d),
			Mask:        g.Input(InputMask, b, d),
			LogProposal: g.Input(InputLogProposal, b*r, 1),
			Weight:      g.Input(InputWeight, b, 1),
		})
		g.Minimise(res.Surrogate, m.Params()...)
		g.Output(OutputReported, res.Reported)
		if res.Weights != nil {
			g.Output(OutputWeights, res.Weights)
		}
	})
	if err == nil {
		observeAll(p)
	}
	return p, err
}

func add(g *graph.Builder, l Loss, w Weighting, m model.Model, o Objective, rows Rows) Result {
	rows.levels(g, m, o)
	res := l.Add(g, m, o, rows, w)
	if res.Surrogate == nil || res.Reported == nil {
		g.Failf("loss %s gives no surrogate, or no value to report", l.Name())
	}
	return res
}

func observeAll(in graph.Inputs) {
	if in.Has(inputAll) {
		all := in.Input(inputAll)
		for i := range all {
			all[i] = 1
		}
	}
}

// Bind copies a batch to the inputs of a program of New, except completed rows and their log
// density, which the caller has filled. rng is for objectives that draw.
func Bind(p *graph.Program, l Loss, o Objective, batch *data.Batch, rng *rand.Rand) {
	copy(p.Input(InputMask), batch.Mask)
	copy(p.Input(InputWeight), batch.Weight)
	bindLevels(p, batch)
	if l.Needs().CompletedRows {
		batch = batch.Completed(p.Input(InputX), p.Input(inputAll))
	}
	o.Bind(p, batch, rng)
}

func bindLevels(in graph.Inputs, batch *data.Batch) {
	if in.Has(InputSignal) {
		copy(in.Input(InputSignal), batch.Signal)
		copy(in.Input(InputNoiseLevel), batch.Noise)
	}
}

// Assumption is an estimate's assumption on missing cells (docs/theory/index.md#assumptions). Its
// value is its name in files.
type Assumption string

const (
	// MCAR is the assumption of losses that compare the model's marginal density with rows of each
	// pattern.
	MCAR Assumption = "MCAR"
	// MAR is the assumption of losses of the completed row: missing cells follow the model's
	// conditional distribution.
	MAR Assumption = "MAR"

	KnownLaw     Assumption = "known law"
	EstimatedLaw Assumption = "estimated law"
	NoGaps       Assumption = "no gaps"
	NoneHolds    Assumption = "none"
)

func (a Assumption) String() string {
	switch a {
	case MAR:
		return "missing at random (MAR): whether a cell is missing may depend on the row's observed cells"
	case KnownLaw:
		return "missing by the given mechanism; columns that it does not name completely at random"
	case EstimatedLaw:
		return "missing at random (MAR) by a logistic regression estimated from the table; columns that it does not name completely at random"
	case NoGaps:
		return "none"
	case NoneHolds:
		return "filled with numbers that do not depend on the row: the estimate is biased under every missingness mechanism"
	}
	return "missing completely at random (MCAR): whether a cell is missing depends on nothing in the row"
}
