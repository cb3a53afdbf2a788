package graph

import (
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/internal/simd"
)

// tape is a compiled program.
type tape interface{ run(again bool) error }

// walk runs a graph's operations in topological order, each with its memory
// bound once and for all. Gorgonia's machine gives the same numbers (a test
// compares them to the bit), but starts two goroutines and allocates at each run.
type walk[T Float] struct {
	steps []step[T]
	in    []copied[T] // of inputs and parameters, where types differ
	out   []copied[T]
}

type step[T Float] struct {
	name   string
	kernel Kernel[T]
	out    []T
	in     [][]T
	held   bool // depends on nothing but parameters that the program does not train
}

// copied are numbers of the program and their float64 outside.
type copied[T Float] struct {
	inside  []T
	outside []float64
	held    bool
}

func (w *walk[T]) run(again bool) (err error) {
	for _, m := range w.in {
		if again && m.held {
			continue
		}
		simd.Narrow(any(m.inside).([]float32), m.outside)
	}
	at := 0
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%s: %v", w.steps[at].name, e)
		}
	}()
	for ; at < len(w.steps); at++ {
		s := &w.steps[at]
		if again && s.held {
			continue
		}
		if err := s.kernel(s.out, s.in); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for _, m := range w.out {
		simd.Widen(m.outside, any(m.inside).([]float32))
	}
	return nil
}

// compile orders what the roots need and gives every node its memory. results
// are the roots' values after a run: []float64, but for bare ones the program's own []T.
func compile[T Float](b *Builder, roots []Node, bare map[Node]bool) (t tape, results []any, err error) {
	w, memory, held := &walk[T]{}, map[Node][]T{}, b.held()
	var visit func(n Node) ([]T, error)
	visit = func(n Node) ([]T, error) {
		if m, ok := memory[n]; ok {
			return m, nil
		}
		if source, ok := b.sources[n]; ok {
			m, same := source.([]T)
			if !same {
				outside := source.([]float64)
				m = make([]T, len(outside))
				w.in = append(w.in, copied[T]{m, outside, held[n]})
			}
			memory[n] = m
			return m, nil
		}
		if v := n.Value(); v != nil { // a constant of Gorgonia's: the 1 that gradients start from
			memory[n], held[n] = numbers[T](v), true
			return memory[n], nil
		}
		s := step[T]{name: n.Op().String(), held: true}
		children := b.children(n)
		switch op := n.Op().(type) {
		case *kernelOp:
			s.kernel = kernelOf[T](op)
			children = op.inputs
		default: // Gorgonia's, where gradients meet
			if !strings.HasPrefix(s.name, "+") {
				return nil, fmt.Errorf("the graph has an operation %q that is not of this package", s.name)
			}
			s.kernel = add[T]
		}
		for _, c := range children {
			m, err := visit(c)
			if err != nil {
				return nil, err
			}
			s.in = append(s.in, m)
			s.held = s.held && held[c]
		}
		s.out = make([]T, max(1, n.Shape().TotalSize()))
		memory[n], held[n] = s.out, s.held
		w.steps = append(w.steps, s)
		return s.out, nil
	}
	for _, n := range roots {
		m, err := visit(n)
		if err != nil {
			return nil, nil, err
		}
		if _, same := any(m).([]float64); same || bare[n] {
			results = append(results, m)
			continue
		}
		result := make([]float64, len(m))
		w.out = append(w.out, copied[T]{m, result, false})
		results = append(results, result)
	}
	return w, results, nil
}

// held are the parameters that the program does not train.
func (b *Builder) held() map[Node]bool {
	held := map[Node]bool{}
	for p, n := range b.params {
		held[n] = !slices.Contains(b.wrt, p)
	}
	return held
}

func kernelOf[T Float](k *kernelOp) Kernel[T] {
	if kernel, ok := any(k.Kernel).(Kernel[T]); ok {
		return kernel
	}
	return any(k.single()).(Kernel[T])
}

func (b *Builder) children(n Node) (nodes []Node) {
	for it := b.g.From(n.ID()); it != nil && it.Next(); {
		nodes = append(nodes, it.Node().(*gorgonia.Node))
	}
	return nodes
}

func (t DType) gorgonia() tensor.Dtype {
	if t == Float32 {
		return gorgonia.Float32
	}
	return gorgonia.Float64
}
