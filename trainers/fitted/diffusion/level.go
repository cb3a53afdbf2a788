package diffusion

import (
	"missingscore/graph"
	"missingscore/graph/model"
)

// Level is the model of x + (σ/a) ε: m of rows a x + σ ε at one level, in the units
// of x. Its density is what a fit at many levels knows best of that of x itself.
func Level(m model.NoiseConditional, signal, noise float64) model.Model {
	return level{m, signal, noise}
}

type level struct {
	model.NoiseConditional
	signal, noise float64
}

// Evaluate implements model.Model: log q(a x; a, σ), a s, a² D and a² H v.
func (l level) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	constant := func(v float64) graph.Node {
		return b.Apply(graph.Op{Name: "level", Rows: n, Cols: 1, Kernel: func(out []float64, _ [][]float64) error {
			for i := range out {
				out[i] = v
			}
			return nil
		}}, x)
	}
	a := l.signal
	t := l.AtNoise(constant(a), constant(l.noise)).Evaluate(b, b.Scale(a, x))
	scaled := model.Evaluation{LogDensity: t.LogDensity, Score: b.Scale(a, t.Score)}
	if t.Diagonal != nil {
		scaled.Diagonal = b.Scale(a*a, t.Diagonal)
	}
	if product := t.HessianProduct; product != nil {
		scaled.HessianProduct = func(v graph.Node) graph.Node { return b.Scale(a*a, product(v)) }
	}
	return scaled
}
