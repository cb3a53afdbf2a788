package graph

import "math"

// Function is an elementwise function with its derivative; a nil derivative
// ends the chain and makes the function constant for gradients.
type Function struct {
	Name       string
	F          func(float64) float64
	Derivative *Function
}

// Map is f applied to each element of x.
func (b *Builder) Map(f *Function, x Node) Node {
	r, c := shape(x)
	op := Op{Name: f.Name, Rows: r, Cols: c,
		Kernel: apply[float64](f.F), Single: apply[float32](f.F)}
	if f.Derivative != nil {
		op.Reverse = func(_, g Node) []Node { return []Node{b.Prod(g, b.Map(f.Derivative, x))} }
	}
	return b.Apply(op, x)
}

func apply[T Float](f func(float64) float64) Kernel[T] {
	return func(out []T, in [][]T) error {
		for i, v := range in[0] {
			out[i] = T(f(float64(v)))
		}
		return nil
	}
}

// Exp is its own derivative, to any order.
var Exp = func() *Function {
	f := &Function{Name: "exp", F: math.Exp}
	f.Derivative = f
	return f
}()

// Complement is 1 − x, which turns the mask of observed cells into that of missing ones.
func (b *Builder) Complement(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "complement", Rows: r, Cols: c, Kernel: complement[float64], Single: complement[float32],
		Reverse: func(_, g Node) []Node { return []Node{b.Scale(-1, g)} }}, x)
}

func complement[T Float](out []T, in [][]T) error {
	for i, v := range in[0][:len(out)] {
		out[i] = 1 - v
	}
	return nil
}

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
