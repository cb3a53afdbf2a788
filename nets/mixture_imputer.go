package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/internal/strictjson"
)

// MixtureOptions are those of NewMixtureImputer.
type MixtureOptions struct {
	Components int `json:"components"` // K; 0 means 5
	Hidden     int `json:"hidden"`     // units in each of the two hidden layers; 0 means 100
}

// MostComponents is how many normals a row of a mixture imputer may have.
const MostComponents = 50

// mixtureImputer is q'_φ(x_mis | x_obs) = Σ_k π_k N(μ_k, diag σ_k²): weights π, means μ and
// deviations σ of its K normals are all outputs of one ReLU network on the zero-filled row
// and its mask, 2d→h→h→K(2d + 1). It can follow conditional distributions that have several
// modes or whose spread depends on the observed cells, which the paper's cannot
// (docs/theory/imputer.md#eq-imputer-mixture). With K = 1 it is a normal whose deviations
// depend on x_obs.
type mixtureImputer struct {
	d       int
	options MixtureOptions
	hidden  [2]layer
	means   layer // (h, K·d)
	logSDs  layer // (h, K·d), before they are bounded
	logits  layer // (h, K); none if K = 1
	params  []*graph.Param
}

func newMixture(d int, text []byte, rng *rand.Rand) (Imputer, error) {
	var o MixtureOptions
	if err := strictjson.Options(text, &o); err != nil {
		return nil, err
	}
	if o.Components < 0 || o.Components > MostComponents {
		return nil, fmt.Errorf("%d components: 1 to %d are possible", o.Components, MostComponents)
	}
	if err := checkUnits(o.Hidden); err != nil {
		return nil, err
	}
	o = o.resolved()
	outputs := 2 * d * o.Components
	if o.Components > 1 {
		outputs += o.Components
	}
	if err := checkImputer(d, o.Hidden, numbersOf(2*d, o.Hidden, o.Hidden, outputs)); err != nil {
		return nil, err
	}
	return NewMixtureImputer(d, o, rng), nil
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

// NewMixtureImputer makes one for d columns with weights drawn from rng. It starts with K
// normals of deviation about 1, whose means are drawn from the standard normal.
func NewMixtureImputer(d int, o MixtureOptions, rng *rand.Rand) Imputer {
	o = o.resolved()
	m := &mixtureImputer{d: d, options: o}
	k := o.Components
	m.hidden[0] = newLayer(&m.params, "hidden 1", 2*d, o.Hidden, rng)
	m.hidden[1] = newLayer(&m.params, "hidden 2", o.Hidden, o.Hidden, rng)
	m.means = newLayer(&m.params, "means", o.Hidden, k*d, rng)
	m.logSDs = newLayer(&m.params, "log sds", o.Hidden, k*d, rng)
	if k > 1 {
		m.logits = newLayer(&m.params, "logits", o.Hidden, k, rng)
	}
	for i := range m.means.bias.Value { // apart from each other, or they would learn the same
		m.means.bias.Value[i] += rng.NormFloat64()
	}
	return m
}

// Params are φ.
func (m *mixtureImputer) Params() []*graph.Param { return m.params }

// Options implements Imputer.
func (m *mixtureImputer) Options() any { return m.options }

// Noise implements Imputer: one number a cell, which the strata share.
func (m *mixtureImputer) Noise() int { return m.d }

// Draw implements Imputer: x_k = μ_k + σ_k ε from each normal, with the log density of the
// whole mixture there, log Σ_l π_l N(x_k; μ_l, diag σ_l²) over missing cells, up to the
// constant of the normal density.
func (m *mixtureImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	if _, d := graph.Shape(rows.X); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	k := m.options.Components
	means, logSDs, logits := m.components(b, rows)
	x := b.Add(b.SplitRows(means, k), b.Prod(b.Map(graph.Exp, b.SplitRows(logSDs, k)), b.GroupRepeat(noise, k)))
	if k == 1 {
		missing := b.Complement(rows.Mask)
		return Strata{K: 1, X: x, LogDensity: b.Scale(-1, b.RowSum(b.Prod(missing, b.Add(b.Scale(0.5, b.Square(noise)), logSDs))))}
	}
	// Row (i·K + k)·K + l has draw k of row i before normal l.
	every := func(x graph.Node) graph.Node { return b.SplitRows(b.GroupRepeat(x, k), k) }
	missing, logSD := b.GroupRepeat(b.Complement(rows.Mask), k*k), every(logSDs)
	z := b.Prod(b.Sub(b.GroupRepeat(x, k), every(means)), b.Map(graph.Exp, b.Scale(-1, logSD)))
	logs := b.Scale(-1, b.RowSum(b.Prod(missing, b.Add(b.Scale(0.5, b.Square(z)), logSD)))) // (n·K·K, 1)
	split := b.SplitRows(logits, k)                                                         // (n·K, 1)
	norm := b.GroupRepeat(b.GroupLogSumExp(split, k), k)
	return Strata{K: k, X: x, LogWeight: b.Sub(split, norm), LogDensity: b.Sub(b.GroupLogSumExp(b.Add(logs, every(logits)), k), norm)}
}

// components are the means (n, K·d), log deviations (n, K·d) and, if K > 1, log weights
// (n, K) up to a constant of the row.
func (m *mixtureImputer) components(b *graph.Builder, rows ImputerRows) (means, logSDs, logits graph.Node) {
	h := b.ConcatColumns(rows.X, rows.Mask)
	affine := func(l layer, relu bool) graph.Node { return b.Affine(h, b.Param(l.weight), b.Param(l.bias), relu) }
	for _, l := range m.hidden {
		h = affine(l, true)
	}
	means, logSDs = affine(m.means, false), b.Map(boundedLog, affine(m.logSDs, false))
	if m.options.Components > 1 {
		logits = affine(m.logits, false)
	}
	return means, logSDs, logits
}

// widest is the largest |log σ| of a component: it keeps a normal that has no draws any more
// from collapsing and from diverging.
const widest = 5

// boundedLog is widest·tanh(x/widest), near x for small x.
var boundedLog = &graph.Function{
	Name:       "bounded log",
	F:          func(x float64) float64 { return widest * math.Tanh(x/widest) },
	Derivative: &graph.Function{Name: "bounded log'", F: func(x float64) float64 { t := math.Tanh(x / widest); return 1 - t*t }},
}
