package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"missingscore/internal/simd"
	"missingscore/internal/spelling"
)

// Activation is a smooth elementwise function, computed with its derivatives from z and its gate:
// σ(z) = 1/(1+e⁻ᶻ) or tanh z. All are finite at least for |z| ≤ 800.
type Activation struct {
	Name string

	double rules[float64]
	single rules[float32]
}

type rules[T Float] struct {
	gate  Kernel[T]    // of z
	order [4]Kernel[T] // of z and the gate: value and three derivatives
}

// Softplus is log(1 + eᶻ), with derivatives s = σ(z), s(1−s), s(1−s)(1−2s).
var Softplus = &Activation{"softplus", softplusRules[float64](), softplusRules[float32]()}

func softplusRules[T Float]() rules[T] {
	return rules[T]{sigmoids[T], [...]Kernel[T]{
		func(out []T, in [][]T) error { simd.Softplus(out, in[0], in[1]); return nil },
		func(out []T, in [][]T) error { copy(out, in[1]); return nil },
		gated(func(_, s T) T { return s * (1 - s) }),
		gated(func(_, s T) T { return s * (1 - s) * (1 - 2*s) }),
	}}
}

func sigmoids[T Float](out []T, in [][]T) error { simd.Sigmoid(out, in[0]); return nil }

// Tanh has, with t = tanh z, the derivatives 1−t², −2t(1−t²), (1−t²)(6t²−2). It is bounded.
var Tanh = &Activation{"tanh", tanhRules(math.Tanh), tanhRules(tanh32)}

func tanhRules[T Float](gate func(T) T) rules[T] {
	return rules[T]{gates(gate), [...]Kernel[T]{
		func(out []T, in [][]T) error { copy(out, in[1]); return nil },
		gated(func(_, t T) T { return 1 - t*t }),
		gated(func(_, t T) T { return -2 * t * (1 - t*t) }),
		gated(func(_, t T) T { return (1 - t*t) * (6*t*t - 2) }),
	}}
}

// SiLU is zσ(z) (Elfwing et al. 2018), with derivatives s + zp, p(2 + z(1−2s)), p(3(1−2s) +
// z(1−6p)), p = s(1−s).
var SiLU = &Activation{"silu", siluRules[float64](), siluRules[float32]()}

func siluRules[T Float]() rules[T] {
	return rules[T]{sigmoids[T], [...]Kernel[T]{
		gated(func(z, s T) T { return z * s }),
		gated(func(z, s T) T { return s + z*s*(1-s) }),
		gated(func(z, s T) T { return s * (1 - s) * (2 + z*(1-2*s)) }),
		gated(func(z, s T) T {
			p := s * (1 - s)
			return p * (3*(1-2*s) + z*(1-6*p))
		}),
	}}
}

var Activations = map[string]*Activation{"softplus": Softplus, "tanh": Tanh, "silu": SiLU}

// NewActivation looks an activation up in Activations.
func NewActivation(name string) (*Activation, error) {
	a, ok := Activations[name]
	if !ok {
		return nil, spelling.Unknown("smooth activation", name, slices.Sorted(maps.Keys(Activations)))
	}
	return a, nil
}

// Activate applies an activation to each element of z. It has three derivatives.
func (b *Builder) Activate(a *Activation, z Node) Node {
	r, c := shape(z)
	gate := b.Apply(Op{Name: a.Name + " gate", Rows: r, Cols: c, Constant: []bool{true}, Kernel: a.double.gate, Single: a.single.gate}, z)
	var order [4]Node
	for k := 3; k >= 0; k-- {
		op := Op{Name: fmt.Sprintf("%s %d", a.Name, k), Rows: r, Cols: c, Constant: []bool{false, true}, Elementwise: true,
			Kernel: a.double.order[k], Single: a.single.order[k]}
		if k < 3 {
			op.Reverse = func(_, g Node) []Node { return []Node{b.Prod(g, order[k+1]), nil} }
		}
		order[k] = b.Apply(op, z, gate)
	}
	return order[0]
}

func gates[T Float](f func(z T) T) Kernel[T] {
	return func(out []T, in [][]T) error {
		for i, z := range in[0][:len(out)] {
			out[i] = f(z)
		}
		return nil
	}
}

func gated[T Float](f func(z, s T) T) Kernel[T] {
	return func(out []T, in [][]T) error {
		gate := in[1][:len(out)]
		for i, z := range in[0][:len(out)] {
			out[i] = f(z, gate[i])
		}
		return nil
	}
}

func sigmoid(z float64) float64 {
	e := math.Exp(-math.Abs(z))
	if z < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
