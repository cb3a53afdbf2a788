package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/internal/simd"
)

type tape interface {
	run(again bool) error
}

// walk runs a graph's operations in topological order with preallocated buffers. Results equal
// Gorgonia's machine's to the bit.
type walk[T Float] struct {
	steps []step[T]
	in    []copied[T] // inputs and parameters of another number type
	out   []copied[T]
}

type step[T Float] struct {
	name   string
	kernel Kernel[T]
	out    []T
	in     [][]T
	frozen bool // depends on constants and untrained parameters only
}

type copied[T Float] struct {
	inside  []T
	outside []float64
	frozen  bool
}

func (w *walk[T]) run(again bool) (err error) {
	for _, m := range w.in {
		if again && m.frozen {
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
		if again && s.frozen {
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

// take hands the caller the input buffer and stops copying into it.
func (w *walk[T]) take(outside []float64) []T {
	i := slices.IndexFunc(w.in, func(c copied[T]) bool { return &c.outside[0] == &outside[0] })
	if i < 0 {
		return make([]T, len(outside))
	}
	inside := w.in[i].inside
	w.in = slices.Delete(w.in, i, i+1)
	return inside
}

// results are the roots' values after a run: []float64, or for bare roots the program's own []T.
func compile[T Float](b *Builder, roots []Node, bare map[Node]bool) (t tape, results []any, err error) {
	c := compiler[T]{b: b, walk: &walk[T]{}, memory: map[Node][]T{}, frozen: frozen(b), made: map[Node]*operation[T]{}}
	for _, n := range roots {
		if err := c.visit(n); err != nil {
			return nil, nil, err
		}
		if o := c.made[n]; o != nil {
			o.kept = true
		}
	}
	c.place()
	for _, n := range roots {
		m := c.memory[n]
		if _, same := any(m).([]float64); same || bare[n] {
			results = append(results, m)
			continue
		}
		result := make([]float64, len(m))
		c.walk.out = append(c.walk.out, copied[T]{m, result, false})
		results = append(results, result)
	}
	return c.walk, results, nil
}

type compiler[T Float] struct {
	b      *Builder
	walk   *walk[T]
	memory map[Node][]T
	frozen map[Node]bool
	order  []*operation[T]
	made   map[Node]*operation[T] // by result node
}

type operation[T Float] struct {
	node   Node
	kernel Kernel[T]
	inputs []Node
	kept   bool // its buffer is not reused: a root, or frozen
	users  int  // operations that read the result and are not placed yet
}

// place appends the steps. A buffer is reused after its last reader.
func (c *compiler[T]) place() {
	for _, o := range c.order {
		for _, n := range o.inputs {
			if p := c.made[n]; p != nil {
				p.users++
			}
		}
	}
	free := map[int][][]T{}
	for _, o := range c.order {
		size := max(1, o.node.Shape().TotalSize())
		s := step[T]{name: o.node.Op().String(), kernel: o.kernel, frozen: c.frozen[o.node]}
		if pool := free[size]; len(pool) > 0 && !o.kept {
			s.out, free[size] = pool[len(pool)-1], pool[:len(pool)-1]
		} else {
			s.out = make([]T, size)
		}
		c.memory[o.node] = s.out
		for _, n := range o.inputs {
			m := c.memory[n]
			s.in = append(s.in, m)
			if p := c.made[n]; p != nil {
				if p.users--; p.users == 0 && !p.kept {
					free[len(m)] = append(free[len(m)], m)
				}
			}
		}
		c.walk.steps = append(c.walk.steps, s)
	}
}

func (c *compiler[T]) visit(n Node) error {
	if c.memory[n] != nil || c.made[n] != nil {
		return nil
	}
	if source, ok := c.b.sources[n]; ok {
		m, same := source.([]T)
		if !same {
			outside := source.([]float64)
			m = make([]T, len(outside))
			c.walk.in = append(c.walk.in, copied[T]{m, outside, c.frozen[n]})
		}
		c.memory[n] = m
		return nil
	}
	if v := n.Value(); v != nil { // a Gorgonia constant: the 1 that starts a gradient
		c.memory[n], c.frozen[n] = numbers[T](v), true
		return nil
	}
	o := &operation[T]{node: n, kept: true}
	switch op := n.Op().(type) {
	case *kernelOp:
		o.kernel, o.inputs = kernelOf[T](op), op.inputs
	default: // Gorgonia's addition of gradients
		if name := op.String(); !strings.HasPrefix(name, "+") {
			return fmt.Errorf("the graph has an operation %q of another package: use the operations of package graph", name)
		}
		o.kernel, o.inputs = add[T], children(c.b, n)
	}
	for _, input := range o.inputs {
		if err := c.visit(input); err != nil {
			return err
		}
		o.kept = o.kept && c.frozen[input]
	}
	c.frozen[n], c.made[n] = o.kept, o
	c.order = append(c.order, o)
	return nil
}

func frozen(b *Builder) map[Node]bool {
	frozen := maps.Clone(b.fixed)
	for p, n := range b.params {
		frozen[n] = !slices.Contains(b.wrt, p)
	}
	return frozen
}

func kernelOf[T Float](k *kernelOp) Kernel[T] {
	if kernel, ok := any(k.Kernel).(Kernel[T]); ok {
		return kernel
	}
	return any(k.single()).(Kernel[T])
}

func children(b *Builder, n Node) (nodes []Node) {
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
