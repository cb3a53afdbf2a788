package graph

import (
	"fmt"
	"hash"
	"hash/fnv"
	"unsafe"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/internal/simd"
)

// Float is a number type of programs.
type Float interface{ float32 | float64 }

// Kernel computes out from the inputs, row-major. It must write all of out, and not change inputs.
type Kernel[T Float] func(out []T, in [][]T) error

// Op is one operation on matrices: a forward kernel and its reverse rule.
type Op struct {
	Name       string
	Rows, Cols int // shape of the result; 0, 0 is a scalar

	Kernel Kernel[float64]

	// Single is the kernel of float32 programs. If nil, Kernel runs on float64 copies.
	Single Kernel[float32]

	// Reverse returns one gradient per input (nil for none) from the result's gradient g, while the
	// program is built. If nil, a gradient through the operation is an error.
	Reverse func(out, g Node) []Node

	// Constant marks the inputs without a gradient; nil marks none.
	Constant []bool

	// Elementwise means one input, and HessianDiagonal then needs Reverse only.
	Elementwise bool

	// tangents returns the result's derivatives along the coordinates of x (second.go).
	tangents func(s *sweep, in []tangents) tangents
}

// Apply adds op to the program. Its result is never merged with another node.
func (b *Builder) Apply(op Op, in ...Node) Node {
	b.serial++
	k := &kernelOp{Op: op, id: b.extension<<32 | b.serial, shape: tensor.ScalarShape(), inputs: in}
	var types []hm.Type
	for i, n := range in {
		if n == nil {
			b.Failf("%s: input %d is nil", op.Name, i)
		}
		types = append(types, n.Type())
		k.diff = append(k.diff, op.differentiable(i))
	}
	if op.Rows > 0 {
		k.shape = tensor.Shape{op.Rows, op.Cols}
	}
	k.typ = hm.NewFnType(append(types, nodeType(b, k.shape))...)
	n, err := gorgonia.ApplyOp(k, in...)
	if err != nil {
		b.Failf("%s: %w", op.Name, err)
	}
	return n
}

func (op *Op) differentiable(i int) bool { return op.Constant == nil || !op.Constant[i] }

func errNoDerivative(name string) error {
	return fmt.Errorf("%s has no derivative, which is needed here", name)
}

func nodeType(b *Builder, s tensor.Shape) hm.Type {
	if s.IsScalar() {
		return b.dtype.gorgonia()
	}
	return gorgonia.TensorType{Dims: len(s), Of: b.dtype.gorgonia()}
}

type kernelOp struct {
	Op
	id     uint64 // in the hash, which prevents merging of nodes
	typ    hm.Type
	shape  tensor.Shape
	diff   []bool
	inputs []Node
}

func (k *kernelOp) Arity() int    { return len(k.diff) }
func (k *kernelOp) Type() hm.Type { return k.typ }
func (k *kernelOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return k.shape.Clone(), nil
}
func (k *kernelOp) ReturnsPtr() bool      { return true }
func (k *kernelOp) CallsExtern() bool     { return false }
func (k *kernelOp) OverwritesInput() int  { return -1 }
func (k *kernelOp) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%s/%d", k.Name, k.id) }
func (k *kernelOp) String() string        { return k.Name }
func (k *kernelOp) DiffWRT(int) []bool    { return k.diff }

func (k *kernelOp) Hashcode() uint32 {
	h := fnv.New32a()
	k.WriteHash(h)
	return h.Sum32()
}

func (k *kernelOp) SymDiff(_ gorgonia.Nodes, out, g *gorgonia.Node) (nodes gorgonia.Nodes, err error) {
	if k.Reverse == nil {
		return nil, errNoDerivative(k.Name)
	}
	err = try(func() { nodes = k.Reverse(out, g) })
	return nodes, err
}

// Do runs the kernel for Gorgonia's own machines. Program.Run does not use it.
func (k *kernelOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	inputs := make([][]float64, len(in))
	for i, v := range in {
		inputs[i] = numbers[float64](v)
	}
	var result gorgonia.Value = gorgonia.NewF64(0)
	if k.Rows > 0 {
		result = tensor.New(tensor.Of(gorgonia.Float64), tensor.WithShape(k.Rows, k.Cols))
	}
	return result, k.Kernel(numbers[float64](result), inputs)
}

func numbers[T Float](v gorgonia.Value) []T {
	switch v := v.(type) {
	case *gorgonia.F64:
		return any(unsafe.Slice((*float64)(v), 1)).([]T)
	case *gorgonia.F32:
		return any(unsafe.Slice((*float32)(v), 1)).([]T)
	case *tensor.Dense:
		return v.Data().([]T)
	}
	panic(fmt.Sprintf("value of type %T", v))
}

func (k *kernelOp) single() Kernel[float32] {
	if k.Single != nil {
		return k.Single
	}
	var wide [][]float64
	var result []float64
	return func(out []float32, in [][]float32) error {
		if wide == nil {
			for _, x := range in {
				wide = append(wide, make([]float64, len(x)))
			}
			result = make([]float64, len(out))
		}
		for i, x := range in {
			simd.Widen(wide[i], x)
		}
		err := k.Kernel(result, wide)
		simd.Narrow(out, result)
		return err
	}
}
