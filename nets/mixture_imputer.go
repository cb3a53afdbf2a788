package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
)

// MixtureOptions configures NewMixtureImputer.
type MixtureOptions struct {
	Components int `json:"components"` // K; 0 means 5
	Hidden     int `json:"hidden"`     // units of each hidden layer; 0 means 100
}

// MostComponents is the largest K of a mixture imputer.
const MostComponents = 50

// mixtureImputer is q'_φ(x_mis | x_obs) = Σ_k π_k N(μ_k, diag σ_k²). The weights π, means μ and
// standard deviations σ are outputs of one ReLU network of the zero-filled row and its mask,
// 2d→h→h→K(2d + 1). Unlike the paper's imputer, it can represent several modes and a spread that
// depends on the observed cells (docs/theory/imputer.md#eq-imputer-mixture).
type mixtureImputer struct {
	d       int
	options MixtureOptions
	hidden  [2]layer
	means   layer // (h, K·d)
	logSDs  layer // (h, K·d), before bounding
	logits  layer // (h, K); none if K = 1
	params  []*graph.Param
}

func (o MixtureOptions) resolved() MixtureOptions {
	if o.Components == 0 {
		o.Components = 5
	}
	if o.Hidden == 0 {
		o.Hidden = 100
	}
	return o
}

func (o MixtureOptions) size(d int) (units, numbers int, err error) {
	if o.Components < 1 || o.Components > MostComponents {
		return 0, 0, fmt.Errorf("%d components: 1 to %d are possible", o.Components, MostComponents)
	}
	outputs := 2 * d * o.Components
	if o.Components > 1 {
		outputs += o.Components
	}
	return o.Hidden, numbersOf(2*d, o.Hidden, o.Hidden, outputs), nil
}

// NewMixtureImputer makes a mixture imputer of d columns with weights drawn from rng. It starts
// with K normals of standard deviation about 1 and standard normal means.
func NewMixtureImputer(d int, o MixtureOptions, rng *rand.Rand) Imputer {
	o = o.resolved()
	m := &mixtureImputer{d: d, options: o}
	k := o.Components
	m.hidden[0] = newLayer(&m.params, "hidden 1", "hidden 1 bias", 2*d, o.Hidden, rng)
	m.hidden[1] = newLayer(&m.params, "hidden 2", "hidden 2 bias", o.Hidden, o.Hidden, rng)
	m.means = newLayer(&m.params, "means", "means bias", o.Hidden, k*d, rng)
	m.logSDs = newLayer(&m.params, "log sds", "log sds bias", o.Hidden, k*d, rng)
	if k > 1 {
		m.logits = newLayer(&m.params, "logits", "logits bias", o.Hidden, k, rng)
	}
	for i := range m.means.bias.Value { // break the symmetry of components
		m.means.bias.Value[i] += rng.NormFloat64()
	}
	return m
}

func (m *mixtureImputer) Params() []*graph.Param { return m.params }

func (m *mixtureImputer) Options() any { return m.options }

func (m *mixtureImputer) Noise() int { return m.d }

// Draw adds x_k = μ_k + σ_k ε with log density log Σ_l π_l N(x_k; μ_l, diag σ_l²) over missing
// cells.
func (m *mixtureImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	if _, d := graph.Shape(rows.X); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	k := m.options.Components
	means, logSDs, logits := m.components(b, rows)
	x := b.Add(graph.SplitRows(b, means, k), b.Prod(b.Map(graph.Exp, graph.SplitRows(b, logSDs, k)), b.GroupRepeat(noise, k)))
	if k == 1 {
		missing := b.Map(graph.Complement, rows.Mask)
		return Strata{K: 1, X: x, LogDensity: b.Scale(-1, b.RowSum(b.Prod(missing, b.Add(b.Scale(0.5, b.Map(graph.Square, noise)), logSDs))))}
	}
	// Row (i·K + k)·K + l pairs draw k of row i with component l.
	every := func(x graph.Node) graph.Node { return graph.SplitRows(b, b.GroupRepeat(x, k), k) }
	missing, logSD := b.GroupRepeat(b.Map(graph.Complement, rows.Mask), k*k), every(logSDs)
	z := b.Prod(b.Sub(b.GroupRepeat(x, k), every(means)), b.Map(graph.Exp, b.Scale(-1, logSD)))
	logs := b.Scale(-1, b.RowSum(b.Prod(missing, b.Add(b.Scale(0.5, b.Map(graph.Square, z)), logSD)))) // (n·K·K, 1)
	split := graph.SplitRows(b, logits, k)                                                             // (n·K, 1)
	norm := b.GroupRepeat(graph.GroupLogSumExp(b, split, k), k)
	return Strata{K: k, X: x, LogWeight: b.Sub(split, norm), LogDensity: b.Sub(graph.GroupLogSumExp(b, b.Add(logs, every(logits)), k), norm)}
}

// components returns means (n, K·d), log standard deviations (n, K·d) and, if K > 1, log weights
// (n, K) up to a constant per row.
func (m *mixtureImputer) components(b *graph.Builder, rows ImputerRows) (means, logSDs, logits graph.Node) {
	h := graph.ConcatColumns(b, rows.X, rows.Mask)
	affine := func(l layer) graph.Node { return b.Affine(h, b.Param(l.weight), b.Param(l.bias)) }
	for _, l := range m.hidden {
		h = b.Map(graph.Rectifier, affine(l))
	}
	means, logSDs = affine(m.means), b.Map(boundedLog, affine(m.logSDs))
	if m.options.Components > 1 {
		logits = affine(m.logits)
	}
	return means, logSDs, logits
}

// widest |log σ|: prevents collapse and divergence of unused components.
const widest = 5

var boundedLog = &graph.Function{
	Name:       "bounded log",
	F:          func(x float64) float64 { return widest * math.Tanh(x/widest) },
	Derivative: &graph.Function{Name: "bounded log'", F: func(x float64) float64 { t := math.Tanh(x / widest); return 1 - t*t }},
}
