package graph

import "math"

// Function is an elementwise function. A gradient through it needs Derivative.
type Function struct {
	Name       string
	F          func(float64) float64
	Derivative *Function
}

// Map is f applied to each element of x.
func (b *Builder) Map(f *Function, x Node) Node {
	if n := b.mapped[mapping{f, x}]; n != nil {
		return n
	}
	r, c := shape(x)
	op := Op{Name: f.Name, Rows: r, Cols: c, Elementwise: true,
		Kernel: apply[float64](f.F), Single: apply[float32](f.F)}
	if f.Derivative != nil {
		op.Reverse = func(_, g Node) []Node { return []Node{b.Prod(g, b.Map(f.Derivative, x))} }
	}
	n := b.Apply(op, x)
	b.mapped[mapping{f, x}] = n
	return n
}

// f is a Function, or the group size of GroupSoftmax.
type mapping struct {
	f any
	x Node
}

func apply[T Float](f func(float64) float64) Kernel[T] {
	return func(out []T, in [][]T) error {
		for i, v := range in[0] {
			out[i] = T(f(float64(v)))
		}
		return nil
	}
}

// Exp is eˣ, with derivatives of any order.
var Exp = func() *Function {
	f := &Function{Name: "exp", F: math.Exp}
	f.Derivative = f
	return f
}()

// Log is the natural logarithm, with four derivatives.
var Log = &Function{"log", math.Log, power(1, -1, 3)}

// Power is x^p, with four derivatives.
func Power(p float64) *Function { return power(1, p, 4) }

func power(c, p float64, derivatives int) *Function {
	f := &Function{Name: "power", F: func(x float64) float64 { return c * math.Pow(x, p) }}
	if derivatives > 0 {
		f.Derivative = power(c*p, p-1, derivatives-1)
	}
	return f
}

// Logistic is σ(x) = 1/(1 + e^{−x}) and LogLogistic its logarithm, with three derivatives.
var (
	Logistic = &Function{"logistic", sigmoid,
		&Function{"logistic'", bell,
			&Function{"logistic''", func(x float64) float64 { return -bell(x) * math.Tanh(x/2) },
				&Function{"logistic'''", func(x float64) float64 { return bell(x) * (1 - 6*bell(x)) }, nil}}}}
	LogLogistic = &Function{"loglogistic", func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) },
		&Function{"loglogistic'", func(x float64) float64 { return sigmoid(-x) },
			&Function{"loglogistic''", func(x float64) float64 { return -bell(x) },
				&Function{"loglogistic'''", func(x float64) float64 { return bell(x) * math.Tanh(x/2) }, nil}}}}
)

func bell(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	return e / (1 + e) / (1 + e)
}

// Complement is 1 − x: the mask of missing cells from that of observed ones.
func (b *Builder) Complement(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "complement", Rows: r, Cols: c, Elementwise: true, Kernel: complement[float64], Single: complement[float32],
		Reverse: func(_, g Node) []Node { return []Node{b.Scale(-1, g)} }}, x)
}

func complement[T Float](out []T, in [][]T) error {
	for i, v := range in[0][:len(out)] {
		out[i] = 1 - v
	}
	return nil
}
