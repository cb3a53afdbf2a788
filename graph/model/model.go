// Package model holds the models: unnormalised densities, or scores, as expressions
// (docs/theory/models.md).
//
//	Model, Evaluation               interface of a model, and its values at points
//	FromLogDensity, Derive          a model from log q alone
//	Models, New, Options            models by name; Quantity and Training
//	Gaussian, Quartic, Mixture      built-in models; neural models are in package nets
//	Rescaled, Joint, Missingness    a model in other units, or with a missingness mechanism
//	Capabilities, AsNormal          detected parts of a model
//	Evaluator, SampleRows           values and draws
package model

import (
	"math/rand/v2"

	"missingscore/graph"
)

// Model is an unnormalised density q_θ on R^d given by expressions. Make a new model by
// FromLogDensity, or by a type with these methods, and add it to Models. capabilities.go has
// optional interfaces.
type Model interface {
	Dim() int
	Params() []*graph.Param
	// Evaluate adds log q_θ and its x-derivatives at the rows of x (B, d), computed where used.
	Evaluate(b *graph.Builder, x graph.Node) Evaluation
}

// Evaluation holds a model's values at B points (docs/theory/index.md#notation); a missing part is nil.
type Evaluation struct {
	LogDensity graph.Node // (B, 1): log q_θ(x), up to a constant
	Score      graph.Node // (B, d): s_θ(x) = ∇_x log q_θ(x), units 1/x
	Diagonal   graph.Node // (B, d): D_θ(x)_j = ∂_j s_θ(x)_j, units 1/x²
	// HessianProduct adds H v (B, d), H the Hessian of log q_θ at each row, v (B, d) constant.
	HessianProduct func(v graph.Node) graph.Node
	// ConstantHessian: H does not depend on x; HessianProduct takes any number of directions.
	ConstantHessian bool

	noDiagonal error // why Diagonal is nil, if derived
}

// Evaluate returns m.Evaluate(b, x). A part with a wrong shape stops the construction.
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

// NeedLogDensity and the methods below stop the construction if the part is missing.
func (t Evaluation) NeedLogDensity(b *graph.Builder) graph.Node {
	if t.LogDensity == nil {
		b.Failf("the model has a score but no log density: only the methods zeroed and full can fit it")
	}
	return t.LogDensity
}

func (t Evaluation) NeedScore(b *graph.Builder) graph.Node {
	if t.Score == nil {
		b.Failf("the model gives no score, which score matching needs")
	}
	return t.Score
}

func (t Evaluation) NeedDiagonal(b *graph.Builder) graph.Node {
	if t.noDiagonal != nil {
		b.Failf("the diagonal of the Hessian, which the classical and truncated objectives need, cannot be derived: %w", t.noDiagonal)
	}
	if t.Diagonal == nil {
		b.Failf("the model gives no diagonal of its Hessian, which the classical and truncated objectives need; sliced and denoising do not")
	}
	return t.Diagonal
}

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

// Hessians returns the number of different Hessians among a table row's r draws.
func (t Evaluation) Hessians(r int) int {
	if t.ConstantHessian {
		return 1
	}
	return r
}

// Maker makes a model of d columns from options, a JSON object or nothing; rng draws random starts.
type Maker func(d int, options []byte, rng *rand.Rand) (Model, error)
