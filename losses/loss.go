package losses

import (
	"errors"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Rows are the inputs of row losses.
type Rows struct {
	R           int        // imputations per table row
	X           graph.Node // (B, d) completed rows; zero-filled if r = 1 without a source
	Mask        graph.Node // (b, d) 1 = observed
	LogProposal graph.Node // (B, 1) log p'(x'_ik), for weights
	Weight      graph.Node // (b, 1) row weight, 0 for padding

	// Noise level of each row, a and σ (b, 1); nil unless the objective is Noising.
	Signal, Noise graph.Node
}

// Evaluate evaluates m at the completed rows, with masks and noise levels if m takes them.
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

// completed returns the completed rows as table rows with one draw each and every cell observed.
func (r Rows) completed(b *graph.Builder) Rows {
	n, d := graph.Shape(r.X)
	return Rows{R: 1, X: r.X, Mask: b.Input(inputAll, n, d)}
}

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

const (
	InputX           = "x"
	InputMask        = "mask"
	InputLogProposal = "log proposal"
	InputWeight      = "weight"
	InputSignal      = "signal"
	InputNoiseLevel  = "noise level"
	OutputReported   = "reported"
	OutputWeights    = "weights"

	inputAll = "all coordinates" // mask of ones for the completed rows
)

// Loss is an estimating equation of a model from completed rows.
type Loss interface {
	Name() string
	Needs() LossNeeds
	Check(m model.Model, o Objective) error
	Add(b *graph.Builder, m model.Model, o Objective, rows Rows, w Weighting) Result
}

// LossNeeds are the requirements and properties of a loss.
type LossNeeds struct {
	Density  bool // the model's log density, with any weighting
	Normal   bool // a normal model, positive definite on each row's missing cells
	NoDraws  bool // closed-form expectations: zero-filled rows, r = 1
	Products bool // products of averages over the same draws, see LeaveOneOut

	// CompletedRows means that the objective is evaluated on Rows.Completed. Draws must be in
	// Program.Input(InputX) before Bind, so float32 is not supported.
	CompletedRows bool

	Ordinal bool

	// Assumes is MCAR or MAR; empty means MCAR.
	Assumes Assumption

	// Mean means that a network's mean must be estimated, because observed means are biased under
	// MAR.
	Mean bool
	// The gradient is not that of a function: line searches do not apply.
	Equation bool
	// Moments means that, given the conditional distribution of missing cells, the loss depends on
	// rows only through the moments of NewExpectation.
	Moments bool
}

// DomainChecker is a loss that supports some domains only.
type DomainChecker interface {
	Loss
	CheckDomain(s *domain.Domain) error
}

// Result holds the nodes of a Loss.
type Result struct {
	Surrogate graph.Node // scalar whose θ-gradient is the step's; its value may be meaningless
	Reported  graph.Node // scalar: the value to show and compare
	Weights   graph.Node // (B, 1) importance weights, nil without weights
}
