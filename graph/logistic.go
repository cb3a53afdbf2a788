package graph

import "math"

// Logistic is σ(x) = 1/(1 + e^{−x}) elementwise, for any size of x.
func (b *Builder) Logistic(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "logistic", Rows: r, Cols: c,
		Kernel: apply[float64](logistic), Single: apply[float32](logistic),
		Reverse: func(out, g Node) []Node { return []Node{b.Prod(g, b.Prod(out, b.Complement(out)))} }}, x)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// LogLogistic is log σ(x) elementwise, for any size of x.
func (b *Builder) LogLogistic(x Node) Node {
	r, c := shape(x)
	f := func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }
	return b.Apply(Op{Name: "loglogistic", Rows: r, Cols: c,
		Kernel: apply[float64](f), Single: apply[float32](f),
		Reverse: func(_, g Node) []Node { return []Node{b.Prod(g, b.Logistic(b.Scale(-1, x)))} }}, x)
}
