// Package graph builds expression graphs of models and losses: programs that are built once and run
// many times, shared parameters, and matrix operations with preallocated buffers.
//
// Gorgonia builds, checks and differentiates the graphs; a plain walk runs them without allocation
// (compile.go). The package avoids Gorgonia operations that give wrong numbers (Reshape, Broadcast,
// a second Grad, constants), and converts panics in Build and Run to errors.
package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gorgonia.org/gorgonia"

	"missingscore/internal/panics"
)

// Node is a value of a program: a matrix, or a scalar made by Sum.
type Node = *gorgonia.Node

// Builder collects the nodes of one program. Build returns a mistake in a method as an error.
type Builder struct {
	g       *gorgonia.ExprGraph
	dtype   DType
	serial  uint64
	inputs  inputs
	params  map[*Param]Node
	sources map[Node]any  // memory of inputs and parameters: []float64, or a Param.Single
	fixed   map[Node]bool // nodes made by Constant

	equal    map[Node]float64 // nodes made by filled, with their number
	fillings map[filling]Node
	reshaped map[Node]Node // nodes made by reshape, with their sources
	mapped   map[mapping]Node

	extension uint64 // number of the extension of a caller's graph; 0: none

	outputs map[string]Node
	loss    Node
	wrt     []*Param
}

type binding struct {
	node   Node
	memory []float64
}

type Inputs interface {
	// Input returns the buffer of an input, to fill before a run. It panics on an unknown name.
	Input(name string) []float64
	Has(name string) bool
}

type inputs map[string]binding

func (in inputs) Has(name string) bool { _, ok := in[name]; return ok }

func (in inputs) Input(name string) []float64 {
	if !in.Has(name) {
		panic(fmt.Sprintf("graph: no input %q among %q", name, slices.Sorted(maps.Keys(in))))
	}
	return in[name].memory
}

type buildError struct{ err error }

func (b *Builder) Failf(format string, args ...any) {
	panic(buildError{fmt.Errorf(format, args...)})
}

// Fail stops the construction: Build returns err.
func (b *Builder) Fail(err error) { panic(buildError{err}) }

// Input adds a matrix that the caller fills through Program.Input(name). A second call with the
// same name and shape returns the same node.
func (b *Builder) Input(name string, rows, cols int) Node {
	if in, ok := b.inputs[name]; ok {
		if r, c := shape(in.node); r != rows || c != cols {
			b.Failf("input %q has shape (%d, %d), requested as (%d, %d)", name, r, c, rows, cols)
		}
		return in.node
	}
	memory := make([]float64, rows*cols)
	n := matrix(b, "input "+name, rows, cols, memory)
	b.inputs[name] = binding{n, memory}
	return n
}

// Param adds a parameter. Programs read p.Value, so they see changes of it.
func (b *Builder) Param(p *Param) Node {
	if n, ok := b.params[p]; ok {
		return n
	}
	n := matrix(b, fmt.Sprintf("param %d %s", len(b.params), p.Name), p.Rows, p.Cols, p.Value)
	if single(b, p) {
		b.sources[n] = p.Single
	}
	b.params[p] = n
	return n
}

// Constant adds a constant matrix, row-major. It keeps the slice.
func (b *Builder) Constant(rows, cols int, values []float64) Node {
	b.serial++
	n := matrix(b, fmt.Sprintf("constant %d", b.serial), rows, cols, values)
	b.fixed[n] = true
	return n
}

func single(b *Builder, p *Param) bool { return b.dtype == Float32 && p.Single != nil }

func matrix(b *Builder, name string, rows, cols int, memory []float64) Node {
	if rows < 1 || cols < 1 || len(memory) != rows*cols {
		b.Failf("%s: shape (%d, %d) does not fit %d numbers", name, rows, cols, len(memory))
	}
	if b.extension > 0 {
		name = fmt.Sprintf("extension %d %s", b.extension, name)
	}
	n := gorgonia.NewMatrix(b.g, b.dtype.gorgonia(), gorgonia.WithShape(rows, cols), gorgonia.WithName(name))
	b.sources[n] = memory
	if b.extension > 0 {
		if err := bind(n, memory); err != nil {
			b.Fail(err)
		}
	}
	return n
}

// Output makes n readable as Program.Output(name) after a run.
func (b *Builder) Output(name string, n Node) { b.outputs[name] = n }

// Minimise sets the scalar n as the program's only loss, with gradients for params that are not fixed.
func (b *Builder) Minimise(n Node, params ...*Param) {
	if b.loss != nil {
		b.Failf("a program has one loss: build another program for another loss")
	}
	b.loss, b.wrt = n, params
}

func newBuilder(t DType) *Builder {
	return &Builder{g: gorgonia.NewGraph(), dtype: t, inputs: inputs{}, params: map[*Param]Node{}, sources: map[Node]any{}, fixed: map[Node]bool{}, equal: map[Node]float64{}, fillings: map[filling]Node{}, reshaped: map[Node]Node{}, mapped: map[mapping]Node{}, outputs: map[string]Node{}}
}

// Program is a built graph. It is not safe for concurrent use.
type Program struct {
	inputs
	tape    tape
	outputs map[string][]float64
	loss    []float64
	grads   map[*Param][]float64
	singles map[*Param][]float32 // float32 gradients

	singleInputs map[string][]float32
}

// Build runs f on a new Builder and compiles the program in float64.
func Build(f func(b *Builder)) (*Program, error) { return BuildAs(Float64, f) }

// BuildAs is Build in the given type. A float32 program copies its float64 inputs and outputs.
func BuildAs(t DType, f func(b *Builder)) (p *Program, err error) {
	err = caught(func() (err error) {
		b := newBuilder(t)
		f(b)
		p, err = program(b)
		return err
	})
	return p, err
}

func caught(f func() error) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			err = e.err
		default: // from Gorgonia, or a programming error in f
			err = fmt.Errorf("building the expression graph: %v%s", e, panics.Place("gorgonia.org/", "gonum.org/", "missingscore/graph."))
		}
	}()
	return f()
}

func program(b *Builder) (*Program, error) {
	roots, bare, err := gradients(b)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(b.outputs))
	for _, name := range names {
		roots = append(roots, b.outputs[name])
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("the program has no output and no loss")
	}
	if err := distinct(b.g); err != nil {
		return nil, err
	}
	p := &Program{inputs: b.inputs, outputs: map[string][]float64{}, grads: map[*Param][]float64{}, singles: map[*Param][]float32{}, singleInputs: map[string][]float32{}}
	var results []any
	if b.dtype == Float32 {
		p.tape, results, err = compile[float32](b, roots, bare)
	} else {
		p.tape, results, err = compile[float64](b, roots, bare)
	}
	if err != nil {
		return nil, err
	}
	if b.loss != nil {
		p.loss, results = results[0].([]float64), results[1:]
		for _, q := range b.wrt {
			if single(b, q) {
				p.singles[q] = results[0].([]float32)
			} else {
				p.grads[q] = results[0].([]float64)
			}
			results = results[1:]
		}
	}
	for i, name := range names {
		p.outputs[name] = results[i].([]float64)
	}
	return p, nil
}

// bare marks gradients in float32.
func gradients(b *Builder) (roots gorgonia.Nodes, bare map[Node]bool, err error) {
	bare = map[Node]bool{}
	if b.loss == nil {
		return nil, bare, nil
	}
	b.wrt = slices.DeleteFunc(slices.Clone(b.wrt), func(q *Param) bool { return q.Fixed })
	var wrt gorgonia.Nodes
	used := reached(b, b.loss)
	for _, q := range b.wrt {
		n := b.params[q]
		if !used[n] {
			return nil, nil, fmt.Errorf("the loss does not depend on parameter %q: leave the parameter out", q.Name)
		}
		wrt = append(wrt, n)
	}
	roots = gorgonia.Nodes{b.loss}
	if len(wrt) == 0 {
		return roots, bare, nil
	}
	grads, err := gorgonia.Grad(b.loss, wrt...)
	if err != nil {
		return nil, nil, fmt.Errorf("differentiating the loss: %w", err)
	}
	for i, g := range grads {
		bare[g] = single(b, b.wrt[i])
	}
	return append(roots, grads...), bare, nil
}

// reached returns the nodes on which n depends through operations with derivatives.
func reached(b *Builder, n Node) map[Node]bool {
	reached := map[Node]bool{}
	var visit func(n Node)
	visit = func(n Node) {
		if reached[n] {
			return
		}
		reached[n] = true
		if op, ok := n.Op().(*kernelOp); ok {
			for i, input := range op.inputs {
				if op.differentiable(i) {
					visit(input)
				}
			}
		}
	}
	visit(n)
	return reached
}

// distinct refuses hash collisions, because Gorgonia merges nodes by a 32-bit hash.
func distinct(g *gorgonia.ExprGraph) error {
	seen := map[uint32]Node{}
	for _, n := range g.AllNodes() {
		if m, ok := seen[n.Hashcode()]; ok && m != n {
			return fmt.Errorf("nodes %v and %v have the same hash", m, n)
		}
		seen[n.Hashcode()] = n
	}
	return nil
}

// SingleInput returns the float32 buffer of an input, read instead of Input(name). It panics in a
// float64 program and on an unknown name.
func (p *Program) SingleInput(name string) []float32 {
	w, ok := p.tape.(*walk[float32])
	if !ok {
		panic("graph: a float64 program has no inputs in float32")
	}
	if p.singleInputs[name] == nil {
		p.singleInputs[name] = w.take(p.Input(name))
	}
	return p.singleInputs[name]
}

func (p *Program) HasOutput(name string) bool { _, ok := p.outputs[name]; return ok }

// Run computes outputs, loss and gradients from the current inputs and parameters.
func (p *Program) Run() error { return p.run(false) }

// RunAgain is Run if only inputs and trained parameters have changed since the last run.
func (p *Program) RunAgain() error { return p.run(true) }

func (p *Program) run(again bool) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("running the expression graph: %v", e)
		}
	}()
	return p.tape.run(again)
}

// Output returns an output after Run. The next Run overwrites the buffer.
func (p *Program) Output(name string) []float64 {
	v, ok := p.outputs[name]
	if !ok {
		panic(fmt.Sprintf("graph: no output %q among %q", name, slices.Sorted(maps.Keys(p.outputs))))
	}
	return v
}

func (p *Program) Loss() float64 {
	if p.loss == nil {
		return math.NaN()
	}
	return p.loss[0]
}

// Grad returns the gradient of the loss in the shape of q.Value; nil if q is fixed. The next Run
// overwrites the buffer.
func (p *Program) Grad(q *Param) []float64 {
	v, ok := p.grads[q]
	if !ok && !q.Fixed {
		panic(fmt.Sprintf("graph: no gradient for parameter %q", q.Name))
	}
	return v
}

// SingleGrad is Grad of a float32 program for a parameter with Param.Single.
func (p *Program) SingleGrad(q *Param) []float32 {
	v, ok := p.singles[q]
	if !ok && !q.Fixed {
		panic(fmt.Sprintf("graph: no gradient in float32 for parameter %q", q.Name))
	}
	return v
}
