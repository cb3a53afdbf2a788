// Package nets holds the neural networks: the imputer q'_φ(x_mis | x_obs) and the
// neural score models, with an energy and without.
package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
)

// Options of an imputer; the zero value is the paper's.
type Options struct {
	Hidden      int     `json:"hidden"`         // units in each of the two hidden layers; 0 means 200
	MaskInput   bool    `json:"mask_input"`     // give the mask to the network too (as in GAIN)
	DiagonalSD  bool    `json:"diagonal_sd"`    // one standard deviation per coordinate instead of one in all
	InitialLogS float64 `json:"initial_log_sd"` // log σ at the start; 0 is σ = 1, the deviation of a standardised column
	Levelled    bool    `json:"levelled"`       // for rows at many levels of noise, which the network is told
}

// Imputer is the variational family q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ² I):
// μ_φ a d→200→200→d ReLU network on the zero-filled row x⁰, σ_φ learned
// (paper, appendix "Variational Modelling Details").
//
// Levelled, for rows a x + σ ε at any level of noise: with c = √(a² + σ²) and ℓ = log(σ/a)/4
// it is N(c μ_φ(x⁰/c, ℓ)_mis, c² e^{2(βℓ + γℓ²)} σ_φ² I), β and γ learned.
type Imputer struct {
	d       int
	options Options
	layers  [3]layer
	// LogSD is log σ: (1, 1), or (1, d) with Options.DiagonalSD.
	LogSD *graph.Param
	// Slope is (β, γ) of a levelled imputer (2, 1), else nil.
	Slope  *graph.Param
	params []*graph.Param
}

type layer struct{ weight, bias *graph.Param }

// NewImputer makes an imputer for d columns with weights drawn from rng.
func NewImputer(d int, o Options, rng *rand.Rand) *Imputer {
	if o.Hidden == 0 {
		o.Hidden = 200
	}
	in, sds := d, 1
	if o.MaskInput {
		in = 2 * d
	}
	if o.Levelled {
		in++
	}
	if o.DiagonalSD {
		sds = d
	}
	m := &Imputer{d: d, options: o, LogSD: graph.NewParam("log sd", 1, sds)}
	sizes := []int{in, o.Hidden, o.Hidden, d}
	for l := range m.layers {
		w := graph.NewParam(fmt.Sprintf("weight %d", l+1), sizes[l], sizes[l+1])
		b := graph.NewParam(fmt.Sprintf("bias %d", l+1), 1, sizes[l+1])
		uniformFanIn(w, sizes[l], rng)
		uniformFanIn(b, sizes[l], rng)
		m.layers[l] = layer{w, b}
		m.params = append(m.params, w, b)
	}
	m.params = append(m.params, m.LogSD)
	if o.Levelled {
		m.Slope = graph.NewParam("log sd by level", 2, 1)
		m.params = append(m.params, m.Slope)
	}
	for i := range m.LogSD.Value {
		m.LogSD.Value[i] = o.InitialLogS
	}
	return m
}

// Params are φ.
func (m *Imputer) Params() []*graph.Param { return m.params }

// Options are those that it was made with.
func (m *Imputer) Options() Options { return m.options }

// Mean adds μ_φ (n, d) for the zero-filled rows x0 and their masks, both (n, d).
// Only its missing coordinates mean anything. signal and noise are the rows'
// levels (n, 1) for a levelled imputer, else nil.
func (m *Imputer) Mean(b *graph.Builder, x0, mask, signal, noise graph.Node) graph.Node {
	if _, d := graph.Shape(x0); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	h := x0
	if m.options.Levelled {
		h = times(b, column(b, signal, noise, func(a, s float64) float64 { return 1 / math.Hypot(a, s) }), h)
	}
	if m.options.MaskInput {
		h = b.ConcatColumns(h, mask)
	}
	if m.options.Levelled {
		h = b.ConcatColumns(h, column(b, signal, noise, quarterLog))
	}
	for l, layer := range m.layers {
		h = b.Affine(h, b.Param(layer.weight), b.Param(layer.bias), l < len(m.layers)-1)
	}
	if m.options.Levelled {
		h = times(b, size(b, signal, noise), h)
	}
	return h
}

// LevelLogDeviation adds log c + βℓ + γℓ² (n, 1), what a row's level adds to LogDeviation; nil
// unless the imputer is levelled.
func (m *Imputer) LevelLogDeviation(b *graph.Builder, signal, noise graph.Node) graph.Node {
	if !m.options.Levelled {
		return nil
	}
	logSize := column(b, signal, noise, func(a, s float64) float64 { return math.Log(math.Hypot(a, s)) })
	level := column(b, signal, noise, quarterLog)
	return b.Add(logSize, b.MatMul(false, false, b.ConcatColumns(level, b.Square(level)), b.Param(m.Slope)))
}

// quarterLog is ℓ = log(σ/a)/4 (Karras et al. 2022).
func quarterLog(signal, noise float64) float64 { return math.Log(noise/signal) / 4 }

// LogDeviation adds log σ_φ as a row (1, d).
func (m *Imputer) LogDeviation(b *graph.Builder) graph.Node {
	s := b.Param(m.LogSD)
	if m.options.DiagonalSD {
		return s
	}
	return b.Columns(s, m.d)
}

// Deviation is σ_φ of coordinate j.
func (m *Imputer) Deviation(j int) float64 {
	if m.options.DiagonalSD {
		return math.Exp(m.LogSD.Value[j])
	}
	return math.Exp(m.LogSD.Value[0])
}
