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

// Extend runs f on a Builder that adds its nodes to g, a float64 graph of Gorgonia's, such as a
// model's log q and score on an input x of g:
//
//	var e model.Evaluation
//	params, err := graph.Extend(g, func(b *graph.Builder) { e = m.Evaluate(b, x) })
//
// It returns the nodes of the parameters. Their values are the memory of Param.Value:
// gorgonia.Grad differentiates by them, TapeMachine reads them, and Gorgonia's solvers
// change them in place. Inputs of f are values that are 0. Minimise and Output
// have no meaning here. Call it once for a model and a graph.
func Extend(g *gorgonia.ExprGraph, f func(b *Builder)) (params map[*Param]*gorgonia.Node, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			params, err = nil, e.err
		default:
			params, err = nil, fmt.Errorf("extending the expression graph: %v%s", e, panics.Place("gorgonia.org/", "gonum.org/", "missingscore/graph."))
		}
	}()
	b := newBuilder(Float64)
	b.g = g
	b.extension = extensions.Add(1)
	f(b)
	return b.params, distinct(g)
}

// bind makes memory the value of n.
func bind(n Node, memory []float64) error {
	return gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(memory)))
}
