// Package graph is the vocabulary of expression graphs that models and losses
// are written in: programs that are built once and run many times, parameters
// that several programs share, and a handful of operations that own their memory.
// The operations are methods of Builder; go doc graph.Builder lists them.
//
// Programs are Gorgonia graphs: it builds, checks and differentiates them. They
// are run by a plain walk over their operations (compile.go), which allocates
// nothing. Gorgonia's own operations are avoided where they give wrong numbers
// (Reshape, Broadcast, a second Grad, constants); its panics become errors in
// Build and Run and nowhere else.
package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gorgonia.org/gorgonia"

	"missingscore/internal/panics"
)

// Node is a value of a program: a matrix, or a scalar as made by Sum.
type Node = *gorgonia.Node

// Builder collects the nodes of one program. Its methods stop the construction
// on a mistake, and Build returns it as an error.
type Builder struct {
	g       *gorgonia.ExprGraph
	dtype   DType
	serial  uint64
	inputs  inputs
	params  map[*Param]Node
	sources map[Node]any  // memory of inputs and parameters: []float64, or a Param.Single
	fixed   map[Node]bool // what Constant made
	rows    map[Node]Node // what Rows made, and of which row

	equal    map[Node]float64 // what filled made, and of which number
	fillings map[filling]Node
	reshaped map[Node]Node // what reshape made, and of what
	mapped   map[mapping]Node

	extension uint64 // of a graph of the caller's, by number; 0: none

	outputs map[string]Node
	loss    Node
	wrt     []*Param
}

type binding struct {
	node   Node
	memory []float64
}

// Inputs are the inputs of a Program or an Extension.
type Inputs interface {
	// Input is the memory of an input, to be filled before a run. It panics on an
	// unknown name, which is a mistake of the program's author.
	Input(name string) []float64
	// Has tells whether there is an input of that name.
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

// buildError carries a mistake from a Builder's method to Build.
type buildError struct{ err error }

func (b *Builder) Failf(format string, args ...any) {
	panic(buildError{fmt.Errorf(format, args...)})
}

// Fail stops the construction: Build returns err. For models and losses whose
// conditions are not met.
func (b *Builder) Fail(err error) { panic(buildError{err}) }

// Input adds a matrix whose numbers the caller writes into Program.Input(name)
// before a run. Asked again for the same name and shape, it gives the same node.
func (b *Builder) Input(name string, rows, cols int) Node {
	if in, ok := b.inputs[name]; ok {
		if r, c := shape(in.node); r != rows || c != cols {
			b.Failf("input %q has shape (%d, %d), requested as (%d, %d)", name, r, c, rows, cols)
		}
		return in.node
	}
	memory := make([]float64, rows*cols)
	n := b.matrix("input "+name, rows, cols, memory)
	b.inputs[name] = binding{n, memory}
	return n
}

// Param adds a parameter. The program reads the parameter's own memory, so
// a change of p.Value is seen by every program that holds p.
func (b *Builder) Param(p *Param) Node {
	if n, ok := b.params[p]; ok {
		return n
	}
	n := b.matrix(fmt.Sprintf("param %d %s", len(b.params), p.Name), p.Rows, p.Cols, p.Value)
	if b.single(p) {
		b.sources[n] = p.Single
	}
	b.params[p] = n
	return n
}

// Constant adds a matrix of fixed numbers, row-major. It keeps the slice.
func (b *Builder) Constant(rows, cols int, values []float64) Node {
	b.serial++
	n := b.matrix(fmt.Sprintf("constant %d", b.serial), rows, cols, values)
	b.fixed[n] = true
	return n
}

// single tells whether the program takes p in float32 as it is.
func (b *Builder) single(p *Param) bool { return b.dtype == Float32 && p.Single != nil }

func (b *Builder) matrix(name string, rows, cols int, memory []float64) Node {
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

// Minimise makes n, a scalar, the program's loss, and asks for its gradient
// with respect to params, but those that are fixed. A program has one loss.
func (b *Builder) Minimise(n Node, params ...*Param) {
	if b.loss != nil {
		b.Failf("a program has one loss: build another program for another loss")
	}
	b.loss, b.wrt = n, params
}

func newBuilder(t DType) *Builder {
	return &Builder{g: gorgonia.NewGraph(), dtype: t, inputs: inputs{}, params: map[*Param]Node{}, sources: map[Node]any{}, fixed: map[Node]bool{}, rows: map[Node]Node{}, equal: map[Node]float64{}, fillings: map[filling]Node{}, reshaped: map[Node]Node{}, mapped: map[mapping]Node{}, outputs: map[string]Node{}}
}

// Program is a built graph. It is for one goroutine at a time.
type Program struct {
	inputs
	tape    tape
	outputs map[string][]float64
	loss    []float64
	grads   map[*Param][]float64
	singles map[*Param][]float32 // for those in float32

	singleInputs map[string][]float32
}

// Build runs f on a new Builder and compiles what it made, in float64.
func Build(f func(b *Builder)) (*Program, error) { return BuildAs(Float64, f) }

// BuildAs is Build with the program's numbers of the given type. What goes in and
// comes out stays float64, but for Param.Single: a float32 program keeps copies.
func BuildAs(t DType, f func(b *Builder)) (p *Program, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			p, err = nil, e.err
		default: // Gorgonia's, or a programming error in f: either way the program is unusable
			p, err = nil, fmt.Errorf("building the expression graph: %v%s", e, panics.Place("gorgonia.org/", "gonum.org/", "missingscore/graph."))
		}
	}()
	b := newBuilder(t)
	f(b)
	return b.program()
}

// program compiles what was built.
func (b *Builder) program() (*Program, error) {
	roots, bare, err := b.gradients()
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
			if b.single(q) {
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

// gradients are the loss and its gradients, nothing if there is none; bare are those of
// parameters in float32.
func (b *Builder) gradients() (roots gorgonia.Nodes, bare map[Node]bool, err error) {
	bare = map[Node]bool{}
	if b.loss == nil {
		return nil, bare, nil
	}
	b.wrt = slices.DeleteFunc(slices.Clone(b.wrt), func(q *Param) bool { return q.Fixed })
	var wrt gorgonia.Nodes
	used := b.reached(b.loss)
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
		bare[g] = b.single(b.wrt[i])
	}
	return append(roots, grads...), bare, nil
}

// reached are the nodes that n depends on by operations with derivatives.
func (b *Builder) reached(n Node) map[Node]bool {
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

// distinct guards against Gorgonia's merging of nodes by a 32-bit hash.
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

// SingleInput is the memory of an input of a float32 program, to be filled in place of
// Input(name), which the program does not look at any more. It panics in a float64
// program, a mistake of the caller's like an unknown name.
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

// HasOutput tells whether the program has an output of that name.
func (p *Program) HasOutput(name string) bool { _, ok := p.outputs[name]; return ok }

// Run computes outputs, loss and gradients from the present inputs and parameters.
func (p *Program) Run() error { return p.run(false) }

// RunAgain is Run where nothing has changed since the last one but inputs and the
// parameters that the program trains: what depends on others only is still there.
func (p *Program) RunAgain() error { return p.run(true) }

func (p *Program) run(again bool) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("running the expression graph: %v", e)
		}
	}()
	return p.tape.run(again)
}

// Output is the value of an output after Run. The memory is overwritten by the next Run.
func (p *Program) Output(name string) []float64 {
	v, ok := p.outputs[name]
	if !ok {
		panic(fmt.Sprintf("graph: no output %q among %q", name, slices.Sorted(maps.Keys(p.outputs))))
	}
	return v
}

// Loss is the value of the loss after Run.
func (p *Program) Loss() float64 {
	if p.loss == nil {
		return math.NaN()
	}
	return p.loss[0]
}

// Grad is the gradient of the loss with respect to q after Run, in the shape of
// q.Value; nil if it is fixed. The memory is overwritten by the next Run.
func (p *Program) Grad(q *Param) []float64 {
	v, ok := p.grads[q]
	if !ok && !q.Fixed {
		panic(fmt.Sprintf("graph: no gradient for parameter %q", q.Name))
	}
	return v
}

// SingleGrad is Grad in a float32 program for a parameter with Param.Single.
func (p *Program) SingleGrad(q *Param) []float32 {
	v, ok := p.singles[q]
	if !ok && !q.Fixed {
		panic(fmt.Sprintf("graph: no gradient in float32 for parameter %q", q.Name))
	}
	return v
}
