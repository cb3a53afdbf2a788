package nets

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
)

// LinearOptions configures NewLinearImputer.
type LinearOptions struct {
	Hidden int `json:"hidden"` // units of each hidden layer of the correction; 0 means 100
}

// linearImputer is q'_φ(x_mis | x_obs) = N(c, Ω_mm⁻¹) with the linear conditional mean and a
// nonlinear correction,
//
//	c = μ_m − Ω_mm⁻¹ Ω_mo (x_o − μ_o) + f_φ(x⁰, mask)_m
//
// (docs/theory/imputer.md#eq-imputer-linear). One mean μ and precision Ω = LLᵀ give the
// conditionals of all patterns, with full covariances. f starts at 0.
type linearImputer struct {
	d       int
	options LinearOptions
	mean    *graph.Param // μ (1, d)
	packed  *graph.Param // L, as in graph.FillCholeskyFactor
	layers  []layer
	params  []*graph.Param
}

// NormalStart is an imputer that can start at the conditionals of a normal.
type NormalStart interface {
	Imputer
	// StartAt sets the conditionals of N(mean, precision⁻¹). It fails if the precision is not
	// positive definite.
	StartAt(mean []float64, precision mat.Symmetric) error
}

func (o LinearOptions) resolved() LinearOptions {
	if o.Hidden == 0 {
		o.Hidden = 100
	}
	return o
}

func (o LinearOptions) widths(d int) []int { return []int{2 * d, o.Hidden, o.Hidden, d} }

func (o LinearOptions) size(d int) (units, numbers int, err error) {
	return o.Hidden, numbersOf(o.widths(d)...) + d + d*(d+1)/2, nil
}

// NewLinearImputer makes a linear imputer of d columns with weights drawn from rng. It starts at
// independent standard normals.
func NewLinearImputer(d int, o LinearOptions, rng *rand.Rand) Imputer {
	o = o.resolved()
	m := &linearImputer{d: d, options: o, mean: graph.NewParam("mean", 1, d), packed: graph.NewParam("precision factor", 1, d*(d+1)/2)}
	m.params = []*graph.Param{m.mean, m.packed}
	m.layers = newLayers(&m.params, o.widths(d), rng)
	last := m.layers[len(m.layers)-1]
	clear(last.weight.Value)
	clear(last.bias.Value)
	return m
}

func (m *linearImputer) Params() []*graph.Param { return m.params }

func (m *linearImputer) Options() any { return m.options }

func (m *linearImputer) Noise() int { return m.d }

func (m *linearImputer) StartAt(mean []float64, precision mat.Symmetric) error {
	g := model.NewGaussian(m.d, model.CholeskyFactor)
	if err := g.SetPrecision(precision); err != nil {
		return err
	}
	copy(m.mean.Value, mean)
	copy(m.packed.Value, g.Packed.Value)
	return nil
}

// Draw adds x' = c + C⁻ᵀε with Ω_mm = CCᵀ and log density −½‖ε_mis‖² + ½ log det Ω_mm.
func (m *linearImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	n, d := graph.Shape(rows.X)
	if d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	l := graph.CholeskyFactor(b, b.Param(m.packed), d)
	mean := b.Param(m.mean)
	r := b.Prod(rows.Mask, b.AddRow(rows.X, b.Scale(-1, mean)))
	delta, halfLogDet := conditionalNormal(b, r, rows.Mask, b.MatMul(false, true, l, l), noise)
	h := rectified(b, m.layers, graph.ConcatColumns(b, rows.X, rows.Mask))
	missing := b.Map(graph.Complement, rows.Mask)
	log := b.Sub(halfLogDet, b.Scale(0.5, b.RowSum(b.Prod(missing, b.Map(graph.Square, noise)))))
	return Strata{K: 1, X: b.Add(b.Add(h, b.Rows(mean, n)), delta), LogDensity: log}
}
