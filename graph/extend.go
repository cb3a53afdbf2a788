package graph

import (
	"sync/atomic"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// extensions numbers the calls of Extend, so that their nodes are not merged.
var extensions atomic.Uint64

// Extension is the part of a Gorgonia graph that Extend added. Inputs start at 0.
type Extension struct {
	inputs
	// Params maps parameters to nodes that share the memory of Param.Value.
	Params map[*Param]Node
}

// Extend runs f on a Builder that adds nodes to g, a float64 Gorgonia graph, for example a model's
// log q and score at an input x of g:
//
//	var e model.Evaluation
//	added, err := graph.Extend(g, func(b *graph.Builder) { e = m.Evaluate(b, x) })
//
// Minimise and Output have no effect. losses.Extend adds a whole loss.
func Extend(g *gorgonia.ExprGraph, f func(b *Builder)) (added *Extension, err error) {
	b := newBuilder(Float64)
	b.g = g
	b.extension = extensions.Add(1)
	err = caught(func() error {
		f(b)
		return distinct(g)
	})
	return &Extension{b.inputs, b.params}, err
}

func bind(n Node, memory []float64) error {
	return gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(memory)))
}
