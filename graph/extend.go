package graph

import (
	"fmt"
	"sync/atomic"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/internal/panics"
)

// extensions counts the calls of Extend: their nodes must not be merged.
var extensions atomic.Uint64

// Extension is the part of a graph of Gorgonia's that Extend added. Its inputs are the values of
// nodes: they start at 0, and a change of Input(name) is seen by the next run of a machine.
type Extension struct {
	inputs
	// Params are the nodes of the parameters. Their values are the memory of Param.Value:
	// gorgonia.Grad differentiates by them, TapeMachine reads them, and Gorgonia's solvers
	// change them in place.
	Params map[*Param]Node
}

// Extend runs f on a Builder that adds its nodes to g, a float64 graph of Gorgonia's, such as a
// model's log q and score on an input x of g:
//
//	var e model.Evaluation
//	added, err := graph.Extend(g, func(b *graph.Builder) { e = m.Evaluate(b, x) })
//
// Minimise and Output have no meaning here. Call it once for a model and a graph.
// losses.Extend adds a whole loss.
func Extend(g *gorgonia.ExprGraph, f func(b *Builder)) (added *Extension, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			added, err = nil, e.err
		default:
			added, err = nil, fmt.Errorf("extending the expression graph: %v%s", e, panics.Place("gorgonia.org/", "gonum.org/", "missingscore/graph."))
		}
	}()
	b := newBuilder(Float64)
	b.g = g
	b.extension = extensions.Add(1)
	f(b)
	return &Extension{b.inputs, b.params}, distinct(g)
}

// bind makes memory the value of n.
func bind(n Node, memory []float64) error {
	return gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(memory)))
}
