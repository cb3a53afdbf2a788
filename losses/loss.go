package losses

import (
	"errors"

	"missingscore/data/domain"
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

// Evaluate is m's at the completed rows, given their masks and levels of noise where
// it depends on them.
func (r Rows) Evaluate(b *graph.Builder, m model.Model) model.Evaluation {
	if p, ok := m.(model.MaskConditional); ok {
		m = p.WithMask(b.GroupRepeat(r.Mask, r.R))
	}
	if l, ok := m.(model.NoiseConditional); ok && r.Noise != nil {
		signal, noise := b.GroupRepeat(r.Signal, r.R), b.GroupRepeat(r.Noise, r.R)
		if g, ok := m.(model.GapConditional); ok {
			m = g.AtGaps(signal, noise, b.GroupRepeat(r.Mask, r.R))
		} else {
			m = l.AtNoise(signal, noise)
		}
	}
	return model.Evaluate(b, m, r.X)
}

// Completed are the completed rows as table rows of their own, one draw each, with every
// cell observed: for losses with LossNeeds.CompletedRows.
func (r Rows) Completed(b *graph.Builder) Rows {
	n, d := graph.Shape(r.X)
	return Rows{R: 1, X: r.X, Mask: b.Input(inputAll, n, d)}
}

// levels adds the inputs for levels of noise if o needs them, and refuses a model
// that cannot follow it.
func (r *Rows) levels(b *graph.Builder, m model.Model, o Objective) {
	n, ok := o.(Noising)
	if !ok {
		return
	}
	if _, patterned := m.(model.MaskConditional); patterned {
		b.Fail(errors.New("a missingness mechanism cannot be combined with an objective that adds noise"))
	}
	if _, noiseConditional := m.(model.NoiseConditional); !noiseConditional && !n.Schedule().Single() {
		b.Fail(errors.New("the model does not support many noise levels: take one level (kind fixed), or the model energy or score-network"))
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
	OutputMoments    = "moments" // of losses with LossNeeds.Moments

	OutputLogLikelihood = "log likelihood" // of the observed cells, likewise

	inputAll = "all coordinates" // a mask of ones for the completed rows
)

// Loss is one way to learn a model from completed rows. A new one is a type with these
// methods and a line in Losses.
type Loss interface {
	// Name is that in Losses.
	Name() string
	// Needs is what it cannot do without, and what it does itself.
	Needs() LossNeeds
	// Check says why it cannot be had of a model with an objective, or nil.
	Check(m model.Model, o Objective) error
	// Add adds the loss to b.
	Add(b *graph.Builder, m model.Model, o Objective, rows Rows, w Weighting) Result
}

// LossNeeds are what a loss needs.
type LossNeeds struct {
	Density  bool // the model's log density, whatever the weighting
	Normal   bool // a normal model, positive definite on the missing cells of each row
	NoDraws  bool // it takes the expectations itself: rows are zero-filled, r is 1
	Products bool // averages over the same draws meet in it, see CrossAverages

	// CompletedRows says that the objective is of the completed rows (Rows.Completed).
	// Draws have to be in Program.Input(InputX) by the time of Bind, so not in float32.
	CompletedRows bool

	// Ordinal says that it is for tables with ordered categories.
	Ordinal bool

	// Assumes is MCAR or MAR; empty stands for MCAR, the stronger one.
	Assumes Assumption

	// Mean says that the mean of a network has to be estimated along, not held at the
	// observed means: these are biased under MAR.
	Mean bool
	// Equation says that its gradient is that of no function: there is an equation to
	// solve, and nothing for a line search to go by.
	Equation bool
	// Moments says that the loss depends on the rows by the moments of the completed ones
	// only, once the conditional distribution of missing cells is held fixed: there is an
	// expectation step, whose result are the outputs OutputMoments, (d+1, d+1), the matrix
	// Σ_i a_i E[(1, x−μ)(1, x−μ)ᵀ | x_o], and OutputLogLikelihood, Σ_i a_i log p(x_o).
	Moments bool
}

// DomainChecker is a loss that is not for every domain.
type DomainChecker interface {
	Loss
	// CheckDomain says why it cannot be had on a domain, or nil.
	CheckDomain(s *domain.Domain) error
}

// Result is what a Loss makes.
type Result struct {
	Surrogate graph.Node // scalar; its θ-gradient is the step's. Its value may mean nothing.
	Reported  graph.Node // scalar: the value to show and compare
	Weights   graph.Node // (B, 1) importance weights, nil if the loss has none
}
