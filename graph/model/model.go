// Package model holds the models: unnormalised densities, or scores alone, as expressions.
//
//	Model, Evaluation               what a model is, and what it gives at points
//	FromLogDensity, Derive          a model of log q alone
//	Models, New, Options            models by name; Quantity and Training, what they have
//	Gaussian, Quartic, Mixture      the models that are here; neural ones are in package nets
//	Rescaled, Joint, Missingness    a model in other units, or with the law of its gaps
//	Capabilities, AsNormal          what a model has
//	Evaluator, SampleRows           numbers and draws of one
//
// What a model can do beside Evaluate it states by methods: Parametric, Configured,
// Supported, FixedOrigin, Normal, Sampler, Trainable, Identified, Coupled, NoiseConditional,
// MaskConditional.
//
// Formulas: docs/theory/models.md.
package model

import (
	"math/rand/v2"

	"missingscore/graph"
)

// Model is an unnormalised density q_θ on R^d, given by expressions.
// A new model is FromLogDensity, or a type with these three methods, and a line in the
// registry. What else it can do it states by the interfaces in capabilities.go.
type Model interface {
	// Dim is d, the number of columns.
	Dim() int
	// Params are θ.
	Params() []*graph.Param
	// Evaluate adds log q_θ and its x-derivatives at the rows of x (B, d).
	// Expressions that a program does not use cost nothing.
	Evaluate(b *graph.Builder, x graph.Node) Evaluation
}

// Evaluation are a model's values at B points (docs/theory/index.md#notation). A part
// that is nil is one that the model does not have: whoever needs one asks for it by the
// method of its name, which refuses where there is none.
type Evaluation struct {
	LogDensity graph.Node // (B, 1): log q_θ(x), up to a constant
	Score      graph.Node // (B, d): s_θ(x) = ∇_x log q_θ(x), units 1/x
	Diagonal   graph.Node // (B, d): D_θ(x)_j = ∂_j s_θ(x)_j, units 1/x²
	// HessianProduct adds H v (B, d), H the Hessian of log q_θ at each row and v
	// (B, d) a constant direction for each.
	HessianProduct func(v graph.Node) graph.Node
	// ConstantHessian says that H is the same everywhere: HessianProduct then takes any
	// number of directions.
	ConstantHessian bool

	noDiagonal error // why Diagonal is nil, for a derived one
}

// Evaluate is m.Evaluate(b, x). A part of another shape than Evaluation says stops the construction of the
// program, by its name.
func Evaluate(b *graph.Builder, m Model, x graph.Node) Evaluation {
	t := m.Evaluate(b, x)
	n, d := graph.Shape(x)
	checkShape(b, "LogDensity", t.LogDensity, n, 1)
	checkShape(b, "Score", t.Score, n, d)
	checkShape(b, "Diagonal", t.Diagonal, n, d)
	return t
}

func checkShape(b *graph.Builder, part string, of graph.Node, rows, cols int) {
	if of == nil {
		return
	}
	if r, c := graph.Shape(of); r != rows || c != cols {
		b.Failf("the model's %s has shape (%d, %d), expected (%d, %d)", part, r, c, rows, cols)
	}
}

// NeedLogDensity is LogDensity. Like the methods below it stops the construction of the
// program where the model has none.
func (t Evaluation) NeedLogDensity(b *graph.Builder) graph.Node {
	if t.LogDensity == nil {
		b.Failf("the model has a score but no log density: only the methods zeroed and full can fit it")
	}
	return t.LogDensity
}

// NeedScore is Score.
func (t Evaluation) NeedScore(b *graph.Builder) graph.Node {
	if t.Score == nil {
		b.Failf("the model gives no score, which score matching needs")
	}
	return t.Score
}

// NeedDiagonal is Diagonal.
func (t Evaluation) NeedDiagonal(b *graph.Builder) graph.Node {
	if t.noDiagonal != nil {
		b.Failf("the diagonal of the Hessian, which the classical and truncated objectives need, cannot be derived: %w", t.noDiagonal)
	}
	if t.Diagonal == nil {
		b.Failf("the model gives no diagonal of its Hessian, which the classical and truncated objectives need; sliced and denoising do not")
	}
	return t.Diagonal
}

// NeedHessianProduct is HessianProduct.
func (t Evaluation) NeedHessianProduct(b *graph.Builder) func(v graph.Node) graph.Node {
	if t.HessianProduct == nil {
		b.Failf("the model gives no Hessian product, which sliced objectives and half-spaces need")
	}
	return func(v graph.Node) graph.Node {
		product := t.HessianProduct(v)
		rows, cols := graph.Shape(v)
		checkShape(b, "HessianProduct", product, rows, cols)
		return product
	}
}

// Hessians is how many of a table row's r draws need a Hessian of their own.
func (t Evaluation) Hessians(r int) int {
	if t.ConstantHessian {
		return 1
	}
	return r
}

// Maker makes a model of d columns: options are a JSON object, nothing for the
// defaults, and rng is for what starts at random.
type Maker func(d int, options []byte, rng *rand.Rand) (Model, error)
