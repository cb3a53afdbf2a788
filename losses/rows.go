// Package losses turns models into the scalars that are minimised: the
// objectives of score matching, the pseudo-loss (P) and the reported loss (M)
// of maths.md, the comparison methods, and the losses that train an imputer.
//
// All share one shape. A batch has b table rows of d columns, each imputed r
// times; imputation k of row i is row i·r+k of the B = b·r completed rows.
package losses

import (
	"errors"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Rows are the inputs that every row loss reads.
type Rows struct {
	R           int        // imputations per table row
	X           graph.Node // (B, d) completed rows; with r = 1 and no source, zero where missing
	Mask        graph.Node // (b, d) 1 = observed
	LogProposal graph.Node // (B, 1) log p'(x'_ik), for weights
	Weight      graph.Node // (b, 1) what the row counts, 0 for padding

	// Level of noise of each row, a and σ (b, 1); nil unless the objective is Noising.
	Signal, Noise graph.Node
}

// terms are m's at the completed rows, given their masks and levels of noise where
// it depends on them.
func (r Rows) terms(b *graph.Builder, m model.Model) model.Evaluation {
	if p, ok := m.(model.MaskConditional); ok {
		m = p.WithMask(b.GroupRepeat(r.Mask, r.R))
	}
	if l, ok := m.(model.NoiseConditional); ok && r.Noise != nil {
		m = l.AtNoise(b.GroupRepeat(r.Signal, r.R), b.GroupRepeat(r.Noise, r.R))
	}
	return m.Evaluate(b, r.X)
}

// levels adds the inputs for levels of noise if o needs them, and refuses a model
// that cannot follow it.
func (r *Rows) levels(b *graph.Builder, m model.Model, o Objective) {
	n, ok := o.(Noising)
	if !ok {
		return
	}
	if _, patterned := m.(model.MaskConditional); patterned {
		b.Fail(errors.New("which cells are missing depends on the row without noise: a model of missingness and an objective that adds noise do not go together"))
	}
	if _, levelled := m.(model.NoiseConditional); !levelled && !n.Schedule().Single() {
		b.Fail(errors.New("the objective has many levels of noise, which the model does not know: take one level (kind fixed), or a model that does (energy, score-network; model.NoiseConditional)"))
	}
	rows, _ := graph.Shape(r.Mask)
	r.Signal, r.Noise = b.Input(InputSignal, rows, 1), b.Input(InputNoiseLevel, rows, 1)
}

// Names of the inputs and outputs of a program made by New.
const (
	InputX           = "x"
	InputMask        = "mask"
	InputLogProposal = "log proposal"
	InputWeight      = "weight"
	InputSignal      = "signal"
	InputNoiseLevel  = "noise level"
	OutputReported   = "reported"
	OutputWeights    = "weights"

	inputAll = "all coordinates" // a mask of ones for the completed rows
)

// Loss is one way to learn a model from completed rows.
type Loss interface {
	// Add adds the loss to b.
	Add(b *graph.Builder, m model.Model, o Objective, rows Rows) Result
}

// Result is what a Loss makes.
type Result struct {
	Surrogate graph.Node // scalar; its θ-gradient is the step's. Its value may mean nothing.
	Reported  graph.Node // scalar: the value to show and compare
	Weights   graph.Node // (B, 1) importance weights, nil if the loss has none
}

// New builds the program of one parameter step: inputs as named above, loss
// and gradient of the surrogate for all of the model's parameters, the
// reported loss, and the weights if there are any.
func New(t graph.DType, l Loss, m model.Model, o Objective, b, r int) (*graph.Program, error) {
	p, err := graph.BuildAs(t, func(g *graph.Builder) {
		d := m.Dim()
		rows := Rows{
			R:           r,
			X:           g.Input(InputX, b*r, d),
			Mask:        g.Input(InputMask, b, d),
			LogProposal: g.Input(InputLogProposal, b*r, 1),
			Weight:      g.Input(InputWeight, b, 1),
		}
		rows.levels(g, m, o)
		res := l.Add(g, m, o, rows)
		g.Minimise(res.Surrogate, m.Params()...)
		g.Output(OutputReported, res.Reported)
		if res.Weights != nil {
			g.Output(OutputWeights, res.Weights)
		}
	})
	if err == nil && p.Has(inputAll) {
		all := p.Input(inputAll)
		for i := range all {
			all[i] = 1
		}
	}
	return p, err
}

// Share makes a program's inputs the batch's own mask and weights: filling it binds them,
// and nothing is copied.
func Share(p *graph.Program, batch *data.Batch) {
	batch.Mask, batch.Weight = p.Input(InputMask), p.Input(InputWeight)
}

// Bind fills the inputs of a program made by New, but the completed rows and
// their log density, which are there already. rng is for what the objective draws.
func Bind(p *graph.Program, l Loss, o Objective, batch *data.Batch, rng *rand.Rand) {
	copy(p.Input(InputMask), batch.Mask)
	copy(p.Input(InputWeight), batch.Weight)
	bindLevels(p, batch)
	if c, ok := l.(Complete); ok && c.AllCoordinates {
		batch = batch.Completed(p.Input(InputX), p.Input(inputAll))
	}
	o.Bind(p, batch, rng)
}

func bindLevels(p *graph.Program, batch *data.Batch) {
	if p.Has(InputSignal) {
		copy(p.Input(InputSignal), batch.Signal)
		copy(p.Input(InputNoiseLevel), batch.Noise)
	}
}
