package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
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
	layers  []layer
	// logSD is log σ: (1, 1), or (1, d) with NormalOptions.DiagonalSD.
	logSD *graph.Param
	// slope is (β, γ) of a noise-conditional imputer (2, 1), else nil.
	slope  *graph.Param
	params []*graph.Param
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

func (o NormalOptions) size(d int) (units, numbers int, err error) {
	return o.Hidden, numbersOf(o.widths(d)...), nil
}

// NewNormalImputer makes a normal imputer of d columns with weights drawn from rng.
func NewNormalImputer(d int, o NormalOptions, rng *rand.Rand) NormalConditional {
	o = o.resolved()
	sds := 1
	if o.DiagonalSD {
		sds = d
	}
	m := &normalImputer{d: d, options: o, logSD: graph.NewParam("log sd", 1, sds)}
	m.layers = newLayers(&m.params, o.widths(d), rng)
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

func (m *normalImputer) NoiseConditional() bool { return m.options.NoiseConditional }

func (m *normalImputer) Noise() int { return m.d }

func (m *normalImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	return DrawNormal(b, m, rows, m.Mean(b, rows), noise)
}

// DrawNormal adds x' = mean + σ z, with log density −½‖z_mis‖² − Σ log σ.
func DrawNormal(b *graph.Builder, m NormalConditional, rows ImputerRows, mean, z graph.Node) Strata {
	n, d := graph.Shape(rows.X)
	missing, logSD := b.Map(graph.Complement, rows.Mask), m.LogDeviation(b)
	sd := b.Rows(b.Map(graph.Exp, logSD), n)
	log := b.Scale(-1, b.RowSum(b.Prod(missing, b.AddRow(b.Scale(0.5, b.Map(graph.Square, z)), logSD))))
	if level := m.LevelLogDeviation(b, rows.Signal, rows.Noise); level != nil {
		sd = b.Prod(sd, b.Columns(b.Map(graph.Exp, level), d))
		log = b.Sub(log, b.Prod(b.RowSum(missing), level))
	}
	return Strata{K: 1, X: b.Add(mean, b.Prod(sd, z)), LogDensity: log}
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
	h = rectified(b, m.layers, h)
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
