package nets

import (
	"math"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Level is a noise level: a cell is Signal·x + Noise·ε, ε ~ N(0, 1). Noise > 0.
type Level struct {
	Signal float64 `json:"signal"`
	Noise  float64 `json:"noise"`
}

var leastLevel = Level{1, 0.01}

// noisy is a network at any noise level: terms evaluate it, with a nil mask for complete rows.
type noisy struct {
	*perceptron
	d     int
	Clean Level // the level of Evaluate
	terms func(b *graph.Builder, c preconditioned, x graph.Node) model.Evaluation
}

func (m *noisy) Dim() int { return m.d }

func (m *noisy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	level := func(v float64) graph.Node { return b.Rows(b.Constant(1, 1, []float64{v}), n) }
	return m.AtNoise(level(m.Clean.Signal), level(m.Clean.Noise)).Evaluate(b, x)
}

func (m *noisy) AtNoise(signal, noise graph.Node) model.Model { return bound{m, m, signal, noise, nil} }

// bound is a network at given levels and masks.
type bound struct {
	model.Model
	of                  *noisy
	signal, noise, mask graph.Node
}

func (m bound) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	return m.of.terms(b, m.of.preconditioned(b, x, m.signal, m.noise, m.mask), x)
}

const levelFeatures = 5

// features returns c, sin πc, cos πc, sin 2πc, cos 2πc of c = log(σ/a)/4, which is between −1.2 and
// 1.2 if σ/a is between 1/100 and 100.
func features(b *graph.Builder, signal, noise graph.Node) graph.Node {
	n, _ := graph.Shape(signal)
	return b.Apply(graph.Op{Name: "level features", Rows: n, Cols: levelFeatures,
		Kernel: func(out []float64, in [][]float64) error {
			for i, a := range in[0] {
				c := math.Log(in[1][i]/a) / 4
				s1, c1 := math.Sincos(math.Pi * c)
				s2, c2 := math.Sincos(2 * math.Pi * c)
				copy(out[i*levelFeatures:], []float64{c, s1, c1, s2, c2})
			}
			return nil
		}}, signal, noise)
}

func column(b *graph.Builder, signal, noise graph.Node, f func(a, s float64) float64) graph.Node {
	n, _ := graph.Shape(signal)
	return b.Apply(graph.Op{Name: "level", Rows: n, Cols: 1,
		Kernel: func(out []float64, in [][]float64) error {
			for i, a := range in[0] {
				out[i] = f(a, in[1][i])
			}
			return nil
		}}, signal, noise)
}

func size(b *graph.Builder, signal, noise graph.Node) graph.Node {
	return column(b, signal, noise, math.Hypot)
}

func times(b *graph.Builder, w, x graph.Node) graph.Node { return graph.GroupOuter(b, x, w, 1) }

// preconditioned is a perceptron f around the model N(0, a²+σ²) of standardised columns. Its input
// is y = x/√(a²+σ²), and its part of the score is scaled by a/(σ√(a²+σ²)), so that its target has
// size 1 at all levels (Karras et al. 2022, "Elucidating the design space of diffusion-based
// generative models", Table 1, with x/a for x).
type preconditioned struct {
	b             *graph.Builder
	signal, noise graph.Node
	f             graph.Node // at y
	base          graph.Node // −x/(a²+σ²), the score of N(0, a²+σ²)
}

// A nil mask means no missing cells.
func (p *perceptron) preconditioned(b *graph.Builder, x, signal, noise, mask graph.Node) preconditioned {
	inverse := column(b, signal, noise, func(a, s float64) float64 { return 1 / math.Hypot(a, s) })
	spread := column(b, signal, noise, func(a, s float64) float64 { return -1 / (a*a + s*s) })
	e := features(b, signal, noise)
	if p.options.Gaps {
		n, d := graph.Shape(x)
		gaps := b.Rows(b.Constant(1, d, make([]float64, d)), n)
		if mask != nil {
			gaps = b.Map(graph.Complement, mask)
		}
		e = graph.ConcatColumns(b, e, gaps)
	}
	return preconditioned{b, signal, noise, p.at(b, times(b, inverse, x), e), times(b, spread, x)}
}

// by returns (a/σ) f(y) for order 0 (an energy), divided by √(a²+σ²) for order 1 (a score).
func (c preconditioned) by(order int) graph.Node {
	return times(c.b, column(c.b, c.signal, c.noise, func(a, s float64) float64 {
		return a / s / math.Pow(math.Hypot(a, s), float64(order))
	}), c.f)
}
