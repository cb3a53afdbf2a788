package graph

import (
	"math"

	"missingscore/internal/simd"
)

// Function is an elementwise function. A gradient through it needs Derivative.
type Function struct {
	Name       string
	F          func(float64) float64
	Derivative *Function

	constant bool            // F ignores its argument
	kinked   bool            // Derivative jumps: it is held constant, and is no second derivative
	gate     *Function       // the kernels read its value as a second input
	double   Kernel[float64] // nil: by F
	single   Kernel[float32]
}

// Map is f applied to each element of x.
func (b *Builder) Map(f *Function, x Node) Node {
	r, c := shape(x)
	if v, ok := b.equal[x]; ok || f.constant {
		return filled(b, f.F(v), r, c)
	}
	if n := b.mapped[mapping{f, x}]; n != nil {
		return n
	}
	in := []Node{x}
	op := Op{Name: f.Name, Rows: r, Cols: c, Elementwise: true, Kernel: f.double, Single: f.single}
	if f.gate != nil {
		in, op.Constant = []Node{x, b.Map(f.gate, x)}, []bool{false, true}
	}
	if f.double == nil {
		op.Kernel, op.Single = each[float64](f.F), each[float32](f.F)
	}
	if f.kinked {
		op.Elementwise = false
		op.tangents = func(*sweep, []tangents) tangents {
			b.Failf("a %s has no second derivative: use a smooth activation", f.Name)
			return tangents{}
		}
		op.Reverse = func(_, g Node) []Node { return []Node{b.Prod(g, Detach(b, b.Map(f.Derivative, x)))} }
	} else if f.Derivative != nil {
		op.Reverse = func(_, g Node) []Node { return []Node{b.Prod(g, b.Map(f.Derivative, x)), nil}[:len(in)] }
	}
	n := b.Apply(op, in...)
	b.mapped[mapping{f, x}] = n
	return n
}

// f is a Function, or the group size of GroupSoftmax.
type mapping struct {
	f any
	x Node
}

func each[T Float](f func(float64) float64) Kernel[T] {
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
var Log = &Function{Name: "log", F: math.Log, Derivative: power(1, -1, 3)}

// Power is x^p, with four derivatives.
func Power(p float64) *Function { return power(1, p, 4) }

func power(c, p float64, derivatives int) *Function {
	f := &Function{Name: "power", F: func(x float64) float64 { return c * math.Pow(x, p) }}
	if derivatives > 0 {
		f.Derivative = power(c*p, p-1, derivatives-1)
	}
	return f
}

// Square is x², and Complement 1 − x: the mask of missing cells from that of observed ones.
var (
	Square = &Function{Name: "square", F: func(x float64) float64 { return x * x }, double: square[float64], single: square[float32],
		Derivative: &Function{Name: "square'", F: func(x float64) float64 { return 2 * x }, double: scale[float64](2), single: scale[float32](2),
			Derivative: fixed(2)}}
	Complement = &Function{Name: "complement", F: func(x float64) float64 { return 1 - x }, double: complement[float64], single: complement[float32],
		Derivative: fixed(-1)}
)

// Rectifier is max(z, 0), without a second derivative.
var Rectifier = &Function{Name: "rectifier", F: func(z float64) float64 { return max(z, 0) }, double: rectify[float64], single: rectify[float32], kinked: true,
	Derivative: &Function{Name: "rectifier'", F: heaviside[float64], double: heavisides[float64], single: heavisides[float32]}}

func rectify[T Float](out []T, in [][]T) error {
	for i, z := range in[0][:len(out)] {
		out[i] = max(z, 0)
	}
	return nil
}

func heaviside[T Float](z T) T {
	on := 0
	if z > 0 {
		on = 1
	}
	return T(on)
}

func heavisides[T Float](out []T, in [][]T) error {
	for i, z := range in[0][:len(out)] {
		out[i] = heaviside(z)
	}
	return nil
}

func fixed(c float64) *Function {
	return &Function{Name: "constant", F: func(float64) float64 { return c }, constant: true}
}

func complement[T Float](out []T, in [][]T) error {
	for i, v := range in[0][:len(out)] {
		out[i] = 1 - v
	}
	return nil
}

// Smooth activations. They and their derivatives share one transcendental number per element, σ(z)
// or tanh z, and are finite at least for |z| ≤ 800.
var (
	// Logistic is s = σ(z) = 1/(1 + e⁻ᶻ), with derivatives p = s(1−s), p(1−2s), p(1−6p).
	Logistic = func() *Function {
		s := &Function{Name: "logistic", F: sigmoid, double: sigmoids[float64], single: sigmoids[float32]}
		s.Derivative = gated(s, logistic1[float64], logistic1[float32],
			gated(s, logistic2[float64], logistic2[float32],
				gated(s, logistic3[float64], logistic3[float32], nil)))
		return s
	}()

	// Softplus is log(1 + eᶻ), with the derivative Logistic.
	Softplus = &Function{Name: "softplus", F: func(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) },
		gate: Logistic, double: softplus[float64], single: softplus[float32],
		Derivative: Logistic}

	// Tanh is t = tanh z, with derivatives 1−t², −2t(1−t²), (1−t²)(6t²−2). It is bounded.
	Tanh = func() *Function {
		t := &Function{Name: "tanh", F: math.Tanh, double: each[float64](math.Tanh), single: each[float32](math.Tanh)}
		t.Derivative = gated(t, tanh1[float64], tanh1[float32],
			gated(t, tanh2[float64], tanh2[float32],
				gated(t, tanh3[float64], tanh3[float32], nil)))
		return t
	}()

	// SiLU is zσ(z) (Elfwing et al. 2018), with derivatives s + zp, p(2 + z(1−2s)), p(3(1−2s) +
	// z(1−6p)), p = s(1−s).
	SiLU = gated(Logistic, silu[float64], silu[float32],
		gated(Logistic, silu1[float64], silu1[float32],
			gated(Logistic, silu2[float64], silu2[float32],
				gated(Logistic, silu3[float64], silu3[float32], nil))))
)

// Activations are the smooth activations of networks.
var Activations = map[string]*Function{"softplus": Softplus, "tanh": Tanh, "silu": SiLU}

// gated is f(z, s) with s the gate of z.
func gated(gate *Function, f func(z, s float64) float64, single func(z, s float32) float32, derivative *Function) *Function {
	return &Function{Name: "gated " + gate.Name, F: func(z float64) float64 { return f(z, gate.F(z)) },
		gate: gate, double: eachPair(f), single: eachPair(single), Derivative: derivative}
}

func eachPair[T Float](f func(z, s T) T) Kernel[T] {
	return func(out []T, in [][]T) error {
		gate := in[1][:len(out)]
		for i, z := range in[0][:len(out)] {
			out[i] = f(z, gate[i])
		}
		return nil
	}
}

func logistic1[T Float](_, s T) T { return s * (1 - s) }
func logistic2[T Float](_, s T) T { return s * (1 - s) * (1 - 2*s) }
func logistic3[T Float](_, s T) T { return s * (1 - s) * (1 - 6*s*(1-s)) }

func tanh1[T Float](_, t T) T { return 1 - t*t }
func tanh2[T Float](_, t T) T { return -2 * t * (1 - t*t) }
func tanh3[T Float](_, t T) T { return (1 - t*t) * (6*t*t - 2) }

func silu[T Float](z, s T) T  { return z * s }
func silu1[T Float](z, s T) T { return s + z*s*(1-s) }
func silu2[T Float](z, s T) T { return s * (1 - s) * (2 + z*(1-2*s)) }
func silu3[T Float](z, s T) T {
	p := s * (1 - s)
	return p * (3*(1-2*s) + z*(1-6*p))
}

// LogLogistic is log σ(x), with three derivatives.
var LogLogistic = &Function{Name: "loglogistic", F: func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) },
	Derivative: &Function{Name: "loglogistic'", F: func(x float64) float64 { return sigmoid(-x) },
		Derivative: &Function{Name: "loglogistic''", F: func(x float64) float64 { return -bell(x) },
			Derivative: &Function{Name: "loglogistic'''", F: func(x float64) float64 { return bell(x) * math.Tanh(x/2) }}}}}

func sigmoid(z float64) float64 {
	e := math.Exp(-math.Abs(z))
	if z < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func bell(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	return e / (1 + e) / (1 + e)
}

func sigmoids[T Float](out []T, in [][]T) error {
	simd.Sigmoid(out, in[0])
	return nil
}

func softplus[T Float](out []T, in [][]T) error {
	simd.Softplus(out, in[0], in[1])
	return nil
}
