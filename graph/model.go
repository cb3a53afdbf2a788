package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Model is an unnormalised density q_θ on R^d, given by three expressions.
// A new model is a type with these three methods and a line in the registry.
type Model interface {
	// Dim is d, the number of columns.
	Dim() int
	// Params are θ.
	Params() []*Param
	// Terms adds log q_θ and its x-derivatives at the rows of x (B, d).
	// Expressions that a program does not use cost nothing.
	Terms(b *Builder, x Node) Terms
}

// Terms are a model's values at B points (maths.md, "Notation and shapes").
type Terms struct {
	LogDensity Node // (B, 1): log q_θ(x), up to a constant; nil where a model is its score only
	Score      Node // (B, d): s_θ(x) = ∇_x log q_θ(x), units 1/x
	Diagonal   Node // (B, d): D_θ(x)_j = ∂_j s_θ(x)_j, units 1/x²
	// HessianProduct adds H v (B, d), H the Hessian of log q_θ at each row and v
	// (B, d) a constant direction for each.
	HessianProduct func(v Node) Node
}

// Density is LogDensity for what cannot do without: it stops the construction where
// the model has none.
func (t Terms) Density(b *Builder) Node {
	if t.LogDensity == nil {
		b.fail("the model has a score but no log density, which is needed here")
	}
	return t.LogDensity
}

// AboutZero is a model whose columns may be scaled but not shifted.
type AboutZero interface {
	Model
	// StartSize is the root mean square of a column at the model's start: columns
	// scaled to it make the start a good one.
	StartSize() float64
}

// Levelled is a model of rows at any level of noise, x(t) = a x + σ ε.
type Levelled interface {
	Model
	// At is the model of n rows at their own levels: signal a and noise σ, both (n, 1).
	At(signal, noise Node) Model
}

// Models makes a model of d columns by name.
var Models = map[string]func(d int) Model{
	"gaussian":         func(d int) Model { return NewGaussian(d, CholeskyFactor) },
	"gaussian-network": func(d int) Model { return NewGaussian(d, FreeSymmetric) },
	"gaussian-natural": func(d int) Model { return NewGaussian(d, Natural) },
	"quartic":          func(d int) Model { return NewQuartic(d) },
}

// NewModel looks a model up in Models.
func NewModel(name string, d int) (Model, error) {
	m, ok := Models[name]
	if !ok {
		return nil, fmt.Errorf("there is no model %q; models are %s", name, strings.Join(slices.Sorted(maps.Keys(Models)), ", "))
	}
	return m(d), nil
}
