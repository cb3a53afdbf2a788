package model

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
)

// A type that embeds a model's type implements its interfaces, too; embed Model to avoid this.

// NoiseConditional is a model of rows at any level of noise, x(t) = a x + σ ε.
type NoiseConditional interface {
	Model
	// AtNoise returns the model of n rows with signal a and noise σ per row, both (n, 1).
	AtNoise(signal, noise graph.Node) Model
}

// GapConditional also takes masks, so that it can learn scores of observed cells alone.
type GapConditional interface {
	NoiseConditional
	// AtGaps is AtNoise for rows with masks (n, d), 1 = observed.
	AtGaps(signal, noise, mask graph.Node) Model
}

// MaskConditional is a density that depends on the mask, such as q_θ(x) φ_Λ(x) for cells missing not at random.
type MaskConditional interface {
	Model
	// WithMask returns the model of n rows with these masks (n, d), 1 = observed.
	WithMask(mask graph.Node) Model
}

// FixedOrigin is a model whose columns may be scaled but not shifted.
type FixedOrigin interface {
	Model
	// InitialRMS is the root mean square of a column under the initial model.
	InitialRMS() float64
}

// Configured is a model with options.
type Configured interface {
	Model
	// Options returns the options, which its Maker reads as JSON.
	Options() any
}

// Supported is a density with a support smaller than R^d.
type Supported interface {
	Model
	// Support is in the model's units; nil for R^d.
	Support() *domain.Domain
}

func SupportOf(m Model) *domain.Domain {
	if s, ok := m.(Supported); ok {
		return s.Support()
	}
	return nil
}

// Normal is a normal density N(μ, P⁻¹). Its Evaluation must set ConstantHessian.
type Normal interface {
	Model
	Mean() []float64          // μ, a copy
	Precision() *mat.SymDense // P, a copy
	// MeanNode is μ (1, d). It stops the construction if μ is not an expression of the parameters.
	MeanNode(b *graph.Builder) graph.Node
	// LinearNode is η = Pμ (1, d).
	LinearNode(b *graph.Builder) graph.Node
	// PrecisionNode is P (d, d).
	PrecisionNode(b *graph.Builder) graph.Node
}

// AsNormal returns m if it is a normal density with a constant Hessian.
func AsNormal(m Model) (Normal, bool) {
	if g, ok := m.(*Gaussian); ok { // itself, not a type that embeds it
		return g, true
	}
	n, ok := m.(Normal)
	if !ok {
		return nil, false
	}
	c, err := CapabilitiesOf(m)
	return n, err == nil && c.ConstantHessian && !c.MaskConditional
}

// ErrNoExactSampler means that the model has no independent draws on the domain.
var ErrNoExactSampler = errors.New("the model has no independent draws there")

// Sampler is a model with independent exact draws.
type Sampler interface {
	Model
	// SampleRows draws n rows (n, d) restricted to a domain (nil for R^d), or fails with
	// ErrNoExactSampler.
	SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error)
}

// SampleRows fails with ErrNoExactSampler if m is no Sampler, or embeds a normal without being normal.
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

// Identified is a model whose density determines its quantities up to the order of components:
// standard errors are meaningful.
type Identified interface {
	Parametric
	Identified()
}

// Coupled is a model with one symmetric positive definite matrix whose off-diagonal elements a
// penalty shrinks.
type Coupled interface {
	Parametric
	// Free returns a copy whose parameter is the matrix itself, to be kept positive definite.
	Free() Coupled
	// Matrix returns the packed parameter (graph.PackedIndex) of a model made by Free.
	Matrix() *graph.Param
}

// CoupledOf returns m, or the model inside a Joint, if it has couplings.
func CoupledOf(m Model) (Coupled, bool) {
	if j, ok := m.(*Joint); ok {
		m = j.Model
	}
	c, ok := m.(Coupled)
	return c, ok
}

// Training holds a model's training defaults; zero values are the general defaults.
type Training struct {
	// Epochs returns the number of passes given the batches per epoch.
	Epochs      func(batchesPerEpoch int, noising bool) int
	Rate        float64 // Adam's learning rate of the model
	ImputerRate float64 // Adam's learning rate of the imputer

	// Of EM with an imputer by Adam: imputer steps per parameter step, and draws per row if these have
	// no weights; 0: the general defaults.
	ImputerSteps, Draws int

	// Overfits selects early stopping by a held-out loss, also for deterministic losses.
	Overfits bool
	// PatientSteps is the minimum number of steps without improvement before early stopping.
	PatientSteps int

	// HeldOutDraws, if positive, is the number of noise draws per row in the held-out loss, which
	// is then evaluated every hundred steps.
	HeldOutDraws int

	// Average is the share of the last Adam steps with two thirds of the weight in the running
	// average of the parameters.
	Average float64
}

type trainable interface {
	Model
	TrainingDefaults() Training
}

const (
	defaultEpochs      = 200
	defaultRate        = 0.01
	DefaultImputerRate = 1e-3
)

// TrainingOf returns m's training defaults, completed by the general ones.
func TrainingOf(m Model) Training {
	var t Training
	if d, ok := m.(trainable); ok {
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

// EpochsOf returns the least number of epochs with at least this many steps.
func EpochsOf(steps, batchesPerEpoch int) int {
	return (steps + batchesPerEpoch - 1) / batchesPerEpoch
}

// Capabilities are the parts that a model has.
type Capabilities struct {
	Density         bool // a log density; else only a score
	Diagonal        bool
	HessianProduct  bool
	ConstantHessian bool

	MaskConditional, NoiseConditional bool

	Support *domain.Domain // nil for R^d
}

// CapabilitiesOf detects the parts from the model's expressions. It fails without a score.
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
		b.Output("x", b.Scale(1, x)) // a program needs an output
	})
	if err != nil {
		err = fmt.Errorf("the model's capabilities cannot be detected: %w", err)
	}
	return c, err
}
