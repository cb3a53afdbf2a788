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
}

// Imputer is the variational family q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ² I):
// μ_φ a d→200→200→d ReLU network on the zero-filled row x⁰, σ_φ learned
// (paper, appendix "Variational Modelling Details").
type Imputer struct {
	d       int
	options Options
	layers  [3]layer
	// LogSD is log σ: (1, 1), or (1, d) with Options.DiagonalSD.
	LogSD  *graph.Param
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
	for i := range m.LogSD.Value {
		m.LogSD.Value[i] = o.InitialLogS
	}
	return m
}

// Params are φ.
func (m *Imputer) Params() []*graph.Param { return m.params }

// Mean adds μ_φ (b, d) for the zero-filled rows x0 and their masks, both (b, d).
// Only its missing coordinates mean anything.
func (m *Imputer) Mean(b *graph.Builder, x0, mask graph.Node) graph.Node {
	if _, d := graph.Shape(x0); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	h := x0
	if m.options.MaskInput {
		h = b.Beside(x0, mask)
	}
	for l, layer := range m.layers {
		h = b.Affine(h, b.Param(layer.weight), b.Param(layer.bias), l < len(m.layers)-1)
	}
	return h
}

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
