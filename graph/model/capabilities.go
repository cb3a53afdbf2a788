package model

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
)

// What a model states of itself beyond Model. Each interface is one statement, and a
// model without it is not asked. A type that embeds another model's type makes that
// one's statements too: embed an interface (Model, or Parametric) to borrow methods
// without them.

// NoiseConditional is a model of rows at any level of noise, x(t) = a x + σ ε.
type NoiseConditional interface {
	Model
	// AtNoise is the model of n rows at their own levels: signal a and noise σ, both (n, 1).
	AtNoise(signal, noise graph.Node) Model
}

// GapConditional is a NoiseConditional model that is told which cells of a row are missing, and so
// learns the scores of observed cells alone beside those of whole rows (AtNoise).
type GapConditional interface {
	NoiseConditional
	// AtGaps is AtNoise for rows with masks (n, d), 1 = observed.
	AtGaps(signal, noise, mask graph.Node) Model
}

// MaskConditional is a density that depends on which cells of a row were observed, such
// as q_θ(x) φ_Λ(x) for cells that are missing not at random.
type MaskConditional interface {
	Model
	// WithMask is the model of n rows with these masks (n, d), 1 = observed.
	WithMask(mask graph.Node) Model
}

// FixedOrigin is a model whose columns may be scaled but not shifted.
type FixedOrigin interface {
	Model
	// InitialRMS is the root mean square of a column at the model's start: columns
	// scaled to it make the start a good one.
	InitialRMS() float64
}

// Configured is a model that is made with options.
type Configured interface {
	Model
	// Options are what its Maker makes it again from, once they are JSON.
	Options() any
}

// Supported is a density on less than R^d, such as one of positive numbers.
type Supported interface {
	Model
	// Support is where it lives, in the model's own units; nil for all of R^d.
	Support() *domain.Domain
}

// SupportOf is a model's support, nil for all of R^d.
func SupportOf(m Model) *domain.Domain {
	if s, ok := m.(Supported); ok {
		return s.Support()
	}
	return nil
}

// Normal is a normal density N(μ, P⁻¹), which has closed forms and exact conditionals.
// A normal density says of its Hessian that it is constant, too.
type Normal interface {
	Model
	Mean() []float64          // μ, a copy
	Precision() *mat.SymDense // P, a copy
	// MeanNode is μ (1, d). It stops the construction where μ is not to be had from the
	// parameters by an expression.
	MeanNode(b *graph.Builder) graph.Node
	// LinearNode is η = Pμ (1, d).
	LinearNode(b *graph.Builder) graph.Node
	// PrecisionNode is P (d, d).
	PrecisionNode(b *graph.Builder) graph.Node
}

// AsNormal is m if it is a normal density. A model that only borrows a normal's
// parameters by embedding it, and says nothing of a constant Hessian, is none.
func AsNormal(m Model) (Normal, bool) {
	if g, ok := m.(*Gaussian); ok { // itself, and no type around it: there is nothing to find out
		return g, true
	}
	n, ok := m.(Normal)
	if !ok {
		return nil, false
	}
	c, err := CapabilitiesOf(m)
	return n, err == nil && c.ConstantHessian && !c.MaskConditional
}

// ErrNoExactSampler says that independent draws are not to be had, on that domain or of
// that model.
var ErrNoExactSampler = errors.New("the model has no independent draws there")

// Sampler is a model that independent exact draws are known of.
type Sampler interface {
	Model
	// SampleRows draws n rows (n, d), restricted to a domain (nil for all of R^d). It
	// fails with ErrNoExactSampler on a domain that it cannot restrict them to.
	SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error)
}

// SampleRows draws n rows of m on a domain if m is a Sampler, and fails with
// ErrNoExactSampler if it is none, also where it only borrows a normal's by embedding it.
func SampleRows(m Model, n int, s *domain.Domain, rng *rand.Rand) ([]float64, error) {
	sampler, ok := m.(Sampler)
	if _, says := m.(Normal); ok && says {
		_, ok = AsNormal(m)
	}
	if !ok {
		return nil, ErrNoExactSampler
	}
	return sampler.SampleRows(n, s, rng)
}

// Identified is a model whose quantities are determined by its density, but for the order of
// parts that are alike: there is something to tell of how uncertain they are.
type Identified interface {
	Parametric
	Identified()
}

// Coupled is a model whose columns depend on each other by the off-diagonal elements, the
// couplings, of one symmetric positive definite matrix: what a penalty of a fit shrinks.
type Coupled interface {
	Parametric
	// Free is a copy of the model with that matrix itself for a parameter: steps can make its
	// elements exactly 0, and have to keep it positive definite.
	Free() Coupled
	// Matrix is that parameter of a model made by Free, packed (graph.PackedIndex).
	Matrix() *graph.Param
}

// CoupledOf is m, or the model that its missingness is joined to, if it has couplings.
func CoupledOf(m Model) (Coupled, bool) {
	if j, ok := m.(*Joint); ok {
		m = j.Model
	}
	c, ok := m.(Coupled)
	return c, ok
}

// Training is how a model is best fitted, where nobody says otherwise. Zero values mean
// the general defaults.
type Training struct {
	// Epochs is how many passes over a table of so many batches.
	Epochs      func(batchesPerEpoch int, noising bool) int
	Rate        float64 // Adam's, for the model
	ImputerRate float64 // Adam's, for the imputer

	// Overfits says that the minimum of its loss is no good fit: it is stopped by the loss
	// of held-out rows, and not minimised even where that loss is a function.
	Overfits bool
	// PatientSteps are, at least, those without a lower such loss after which training ends, besides
	// a number of epochs: of a small table they are few, and the loss may rise before it falls.
	PatientSteps int

	// HeldOutDraws, if set, is how often such a loss draws the noise of each row. It is then
	// computed after every hundred steps, not after each epoch.
	HeldOutDraws int

	// Average is the share of Adam's steps, the last ones, that have two thirds of the weight in a
	// running mean of the parameters, which is the fit; 0: none.
	Average float64
}

// Trainable is a model that knows how it is best fitted.
type Trainable interface {
	Model
	TrainingDefaults() Training
}

// What a model that does not say it is fitted with: passes over the table, and Adam's rates.
const (
	defaultEpochs      = 200
	defaultRate        = 0.01
	DefaultImputerRate = 1e-3
)

// TrainingOf is what m says, and the general defaults for the rest.
func TrainingOf(m Model) Training {
	var t Training
	if d, ok := m.(Trainable); ok {
		t = d.TrainingDefaults()
	}
	if t.Epochs == nil {
		t.Epochs = func(int, bool) int { return defaultEpochs }
	}
	if t.Rate == 0 {
		t.Rate = defaultRate
	}
	if t.ImputerRate == 0 {
		t.ImputerRate = DefaultImputerRate
	}
	return t
}

// EpochsOf is how many epochs make at least so many steps.
func EpochsOf(steps, batchesPerEpoch int) int {
	return (steps + batchesPerEpoch - 1) / batchesPerEpoch
}

// Capabilities are what a model has.
type Capabilities struct {
	Density         bool // a log density; else it is a score alone
	Diagonal        bool
	HessianProduct  bool
	ConstantHessian bool

	MaskConditional, NoiseConditional bool

	Support *domain.Domain // nil for all of R^d
}

// CapabilitiesOf finds them out from the model's expressions at one point. It fails where
// these cannot be made, or give no score.
func CapabilitiesOf(m Model) (c Capabilities, err error) {
	_, c.NoiseConditional = m.(NoiseConditional)
	c.Support = SupportOf(m)
	_, err = graph.Build(func(b *graph.Builder) {
		x := b.Input("x", 1, m.Dim())
		at := m
		if p, ok := m.(MaskConditional); ok {
			c.MaskConditional, at = true, p.WithMask(b.Input("mask", 1, m.Dim()))
		}
		t := Evaluate(b, at, x)
		t.NeedScore(b)
		c.Density, c.Diagonal, c.HessianProduct, c.ConstantHessian = t.LogDensity != nil, t.Diagonal != nil, t.HessianProduct != nil, t.ConstantHessian
		b.Output("x", b.Scale(1, x)) // a program needs an output, and none of the model is to be computed
	})
	if err != nil {
		err = fmt.Errorf("the model's capabilities cannot be detected: %w", err)
	}
	return c, err
}
