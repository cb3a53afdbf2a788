package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/internal/strictjson"
)

// NormalOptions configures NewNormalImputer; the zero value is the paper's imputer.
type NormalOptions struct {
	Hidden           int     `json:"hidden"`            // units of each hidden layer; 0 means 200
	MaskInput        bool    `json:"mask_input"`        // mask as input of the network, as in GAIN
	DiagonalSD       bool    `json:"diagonal_sd"`       // one standard deviation per coordinate instead of a common one
	InitialLogS      float64 `json:"initial_log_sd"`    // initial log σ; 0 is σ = 1, the standard deviation of a standardised column
	NoiseConditional bool    `json:"noise_conditional"` // for rows at many noise levels, with the level as input
}

// normalImputer is the variational family q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ² I): μ_φ is a
// d→200→200→d ReLU network of the zero-filled row x⁰, and σ_φ is learned (paper, appendix
// "Variational Modelling Details").
//
// NoiseConditional, for rows a x + σ ε: with c = √(a² + σ²) and ℓ = log(σ/a)/4 it is N(c μ_φ(x⁰/c,
// ℓ)_mis, c² e^{2(βℓ + γℓ²)} σ_φ² I), with β and γ learned.
type normalImputer struct {
	d       int
	options NormalOptions
	layers  [3]layer
	// logSD is log σ: (1, 1), or (1, d) with NormalOptions.DiagonalSD.
	logSD *graph.Param
	// slope is (β, γ) of a noise-conditional imputer (2, 1), else nil.
	slope  *graph.Param
	params []*graph.Param
}

func newNormal(d int, text []byte, rng *rand.Rand) (Imputer, error) {
	var o NormalOptions
	if err := strictjson.Options(text, &o); err != nil {
		return nil, err
	}
	if err := checkUnits(o.Hidden); err != nil {
		return nil, err
	}
	o = o.resolved()
	if err := checkImputer(d, o.Hidden, numbersOf(o.widths(d)...)); err != nil {
		return nil, err
	}
	return NewNormalImputer(d, o, rng), nil
}

func (o NormalOptions) resolved() NormalOptions {
	if o.Hidden == 0 {
		o.Hidden = 200
	}
	return o
}

func (o NormalOptions) widths(d int) []int {
	in := d
	if o.MaskInput {
		in = 2 * d
	}
	if o.NoiseConditional {
		in++
	}
	return []int{in, o.Hidden, o.Hidden, d}
}

// NewNormalImputer makes a normal imputer of d columns with weights drawn from rng.
func NewNormalImputer(d int, o NormalOptions, rng *rand.Rand) NormalConditional {
	o = o.resolved()
	sds := 1
	if o.DiagonalSD {
		sds = d
	}
	m := &normalImputer{d: d, options: o, logSD: graph.NewParam("log sd", 1, sds)}
	sizes := o.widths(d)
	for l := range m.layers {
		w := graph.NewParam(fmt.Sprintf("weight %d", l+1), sizes[l], sizes[l+1])
		b := graph.NewParam(fmt.Sprintf("bias %d", l+1), 1, sizes[l+1])
		uniformFanIn(w, sizes[l], rng)
		uniformFanIn(b, sizes[l], rng)
		m.layers[l] = layer{w, b}
		m.params = append(m.params, w, b)
	}
	m.params = append(m.params, m.logSD)
	if o.NoiseConditional {
		m.slope = graph.NewParam("log sd by level", 2, 1)
		m.params = append(m.params, m.slope)
	}
	for i := range m.logSD.Value {
		m.logSD.Value[i] = o.InitialLogS
	}
	return m
}

func (m *normalImputer) Params() []*graph.Param { return m.params }

func (m *normalImputer) Options() any { return m.options }

func (m *normalImputer) LevelOptions(Level) any {
	o := m.options
	o.NoiseConditional = true
	return o
}

func (m *normalImputer) NoiseConditional() bool { return m.options.NoiseConditional }

func (m *normalImputer) Noise() int { return m.d }

// Draw adds x' = μ + σ ε, with log density −½‖ε_mis‖² − Σ log σ.
func (m *normalImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	n, d := graph.Shape(rows.X)
	missing := b.Map(graph.Complement, rows.Mask)
	mean, logSD := m.Mean(b, rows), m.LogDeviation(b)
	sd := b.Rows(b.Map(graph.Exp, logSD), n)
	level := m.LevelLogDeviation(b, rows.Signal, rows.Noise)
	if level != nil {
		sd = b.Prod(sd, b.Columns(b.Map(graph.Exp, level), d))
	}
	log := b.Scale(-1, b.RowSum(b.Prod(missing, b.AddRow(b.Scale(0.5, b.Map(graph.Square, noise)), logSD))))
	if level != nil {
		log = b.Sub(log, b.Prod(b.RowSum(missing), level))
	}
	return Strata{K: 1, X: b.Add(mean, b.Prod(sd, noise)), LogDensity: log}
}

func (m *normalImputer) Mean(b *graph.Builder, rows ImputerRows) graph.Node {
	x0, mask, signal, noise := rows.X, rows.Mask, rows.Signal, rows.Noise
	if _, d := graph.Shape(x0); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	h := x0
	if m.options.NoiseConditional {
		h = times(b, column(b, signal, noise, func(a, s float64) float64 { return 1 / math.Hypot(a, s) }), h)
	}
	if m.options.MaskInput {
		h = graph.ConcatColumns(b, h, mask)
	}
	if m.options.NoiseConditional {
		h = graph.ConcatColumns(b, h, column(b, signal, noise, quarterLog))
	}
	for l, layer := range m.layers {
		h = b.Affine(h, b.Param(layer.weight), b.Param(layer.bias), l < len(m.layers)-1)
	}
	if m.options.NoiseConditional {
		h = times(b, size(b, signal, noise), h)
	}
	return h
}

// LevelLogDeviation adds log c + βℓ + γℓ² (n, 1), the noise level's term of log σ; nil unless the
// imputer is noise-conditional.
func (m *normalImputer) LevelLogDeviation(b *graph.Builder, signal, noise graph.Node) graph.Node {
	if !m.options.NoiseConditional {
		return nil
	}
	logSize := column(b, signal, noise, func(a, s float64) float64 { return math.Log(math.Hypot(a, s)) })
	level := column(b, signal, noise, quarterLog)
	return b.Add(logSize, b.MatMul(false, false, graph.ConcatColumns(b, level, b.Map(graph.Square, level)), b.Param(m.slope)))
}

// quarterLog is ℓ = log(σ/a)/4 (Karras et al. 2022).
func quarterLog(signal, noise float64) float64 { return math.Log(noise/signal) / 4 }

func (m *normalImputer) LogDeviation(b *graph.Builder) graph.Node {
	s := b.Param(m.logSD)
	if m.options.DiagonalSD {
		return s
	}
	return b.Columns(s, m.d)
}
