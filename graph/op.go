package graph

import (
	"fmt"
	"hash"
	"hash/fnv"
	"unsafe"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Op is one operation on matrices: a forward kernel and its reverse rule.
type Op struct {
	Name       string
	Rows, Cols int // shape of the result; 0, 0 is a scalar

	// Kernel fills out from the inputs, all row-major. It must write every
	// element of out and must not write to, or keep, an input.
	Kernel func(out []float64, in [][]float64) error

	// Reverse returns, for the gradient g of the result, one gradient per
	// input, nil where there is none. It is called while the program is built.
	// A nil Reverse makes the result constant for every gradient.
	Reverse func(out, g Node) []Node

	// Constant marks the inputs that Reverse returns nil for; nil marks none.
	Constant []bool
}

// Apply adds op on the given inputs to the program. Unlike Gorgonia's own
// operations its result has a buffer of its own, is never merged with another
// node and allocates nothing after the first run.
func (b *Builder) Apply(op Op, in ...Node) Node {
	b.serial++
	k := &kernelOp{Op: op, id: b.serial, in: make([][]float64, len(in)), failure: b.failure}
	var types []hm.Type
	for i, n := range in {
		if n == nil {
			b.fail("%s: input %d is nil", op.Name, i)
		}
		types = append(types, n.Type())
		k.diff = append(k.diff, op.Reverse != nil && (op.Constant == nil || !op.Constant[i]))
	}
	var result hm.Type = gorgonia.Float64
	if op.Rows > 0 {
		k.shape = tensor.Shape{op.Rows, op.Cols}
		k.buffer = make([]float64, op.Rows*op.Cols)
		k.out = tensor.New(tensor.WithShape(op.Rows, op.Cols), tensor.WithBacking(k.buffer))
		result = gorgonia.TensorType{Dims: 2, Of: gorgonia.Float64}
	} else {
		k.shape = tensor.ScalarShape()
		v := gorgonia.NewF64(0)
		k.buffer, k.out = numbers(v), v
	}
	k.typ = hm.NewFnType(append(types, result)...)
	n, err := gorgonia.ApplyOp(k, in...)
	if err != nil {
		b.fail("%s: %w", op.Name, err)
	}
	return n
}

// kernelOp is Op as Gorgonia sees it.
type kernelOp struct {
	Op
	id     uint64 // in the hash: a node with a buffer must never be merged with another
	typ    hm.Type
	shape  tensor.Shape
	buffer []float64
	out    gorgonia.Value
	in     [][]float64
	diff   []bool

	failure *error // of the program: Gorgonia's wrapping hides the kernel's error from errors.Is
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

func (k *kernelOp) SymDiff(_ gorgonia.Nodes, out, g *gorgonia.Node) (gorgonia.Nodes, error) {
	if k.Reverse == nil {
		return nil, fmt.Errorf("%s has no gradient", k.Name)
	}
	return k.Reverse(out, g), nil
}

// Do runs the kernel. The machine calls it on its own goroutine, where a panic
// would end the process, so it becomes an error here.
func (k *kernelOp) Do(in ...gorgonia.Value) (v gorgonia.Value, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", k.Name, err)
			*k.failure = err
		}
	}()
	for i, x := range in {
		k.in[i] = numbers(x)
	}
	if err := k.Kernel(k.buffer, k.in); err != nil {
		return nil, err
	}
	return k.out, nil
}

// numbers is the memory of a value, without copying.
func numbers(v gorgonia.Value) []float64 {
	switch v := v.(type) {
	case *gorgonia.F64:
		return unsafe.Slice((*float64)(v), 1)
	case *tensor.Dense:
		return v.Float64s()
	}
	panic(fmt.Sprintf("value of type %T is not float64", v))
}
