package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"missingscore/graph"
	"missingscore/internal/strictjson"
)

// Model is an unnormalised density q_θ on R^d, given by three expressions.
// A new model is a type with these three methods and a line in the registry.
type Model interface {
	// Dim is d, the number of columns.
	Dim() int
	// Params are θ.
	Params() []*graph.Param
	// Evaluation adds log q_θ and its x-derivatives at the rows of x (B, d).
	// Expressions that a program does not use cost nothing.
	Evaluate(b *graph.Builder, x graph.Node) Evaluation
}

// Evaluation are a model's values at B points (maths.md, "Notation and shapes").
type Evaluation struct {
	LogDensity graph.Node // (B, 1): log q_θ(x), up to a constant; nil for a score without a density
	Score      graph.Node // (B, d): s_θ(x) = ∇_x log q_θ(x), units 1/x
	Diagonal   graph.Node // (B, d): D_θ(x)_j = ∂_j s_θ(x)_j, units 1/x²
	// HessianProduct adds H v (B, d), H the Hessian of log q_θ at each row and v
	// (B, d) a constant direction for each.
	HessianProduct func(v graph.Node) graph.Node
	// ConstantHessian says that H is the same everywhere: HessianProduct then takes any
	// number of directions.
	ConstantHessian bool
}

// Hessians is how many of a table row's r draws need a Hessian of their own.
func (t Evaluation) Hessians(r int) int {
	if t.ConstantHessian {
		return 1
	}
	return r
}

// NoiseConditional is a model of rows at any level of noise, x(t) = a x + σ ε.
type NoiseConditional interface {
	Model
	// AtNoise is the model of n rows at their own levels: signal a and noise σ, both (n, 1).
	AtNoise(signal, noise graph.Node) Model
}

// MaskConditional is a density that depends on which cells of a row were observed, such
// as q_θ(x) φ_Λ(x) for cells that are missing not at random.
type MaskConditional interface {
	Model
	// WithMask is the model of n rows with these masks (n, d), 1 = observed.
	WithMask(mask graph.Node) Model
}

// HasDensity tells whether a model has a log density, or is a score alone.
func HasDensity(m Model) (has bool, err error) {
	_, err = graph.Build(func(b *graph.Builder) {
		t := m.Evaluate(b, b.Input("x", 1, m.Dim()))
		has = t.LogDensity != nil
		b.Output("score", t.Score)
	})
	return has, err
}

// Density is LogDensity for what cannot do without: it stops the construction where
// the model has none.
func (t Evaluation) Density(b *graph.Builder) graph.Node {
	if t.LogDensity == nil {
		b.Failf("the model is a score without a log density, which is needed here: only the methods zeroed and full can learn it")
	}
	return t.LogDensity
}

// FixedOrigin is a model whose columns may be scaled but not shifted.
type FixedOrigin interface {
	Model
	// InitialRMS is the root mean square of a column at the model's start: columns
	// scaled to it make the start a good one.
	InitialRMS() float64
}

// Maker makes a model of d columns: options are a JSON object, nothing for the
// defaults, and rng is for what starts at random.
type Maker func(d int, options []byte, rng *rand.Rand) (Model, error)

// Configured is a model that is made with options.
type Configured interface {
	Model
	// Options are what its Maker makes it again from, once they are JSON.
	Options() any
}

// Models are the models by name. A new one is a line here, or an assignment in the
// init function of the package that has it: then programs that link it in know it, the
// command line too.
var Models = map[string]Maker{
	"gaussian":         plain(func(d int) Model { return NewGaussian(d, CholeskyFactor) }),
	"gaussian-network": plain(func(d int) Model { return NewGaussian(d, FreeSymmetric) }),
	"gaussian-natural": plain(func(d int) Model { return NewGaussian(d, Natural) }),
	"quartic":          plain(func(d int) Model { return NewQuartic(d) }),
	"mixture":          newMixture,
}

// plain is a model without options.
func plain(make func(d int) Model) Maker {
	return func(d int, text []byte, _ *rand.Rand) (Model, error) {
		return make(d), strictjson.Options(text, &struct{}{})
	}
}

// New looks a model up in Models and makes it.
func New(name string, d int, options []byte, rng *rand.Rand) (Model, error) {
	make, ok := Models[name]
	if !ok {
		return nil, fmt.Errorf("there is no model %q; models are %s", name, strings.Join(slices.Sorted(maps.Keys(Models)), ", "))
	}
	m, err := make(d, options, rng)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return m, nil
}
