package model

import (
	"missingscore/graph"
)

// Derive is the evaluation of an unnormalised density at the rows of x (n, d), of which
// logDensity (n, 1) is the logarithm, up to a constant: each row of it depends on the same
// row of x only. Score, diagonal and Hessian products are derived from its operations
// (graph.Builder.Gradient, HessianDiagonal); a part that an operation has no derivative for is
// refused, by the operation's name, where it is needed.
func Derive(b *graph.Builder, x, logDensity graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	if r, c := graph.Shape(logDensity); r != n || c != 1 {
		b.Failf("the log density of %d rows has shape (%d, %d), expected (%d, 1): one number per row", n, r, c, n)
	}
	score := b.Gradient(logDensity, x)
	diagonal, err := b.HessianDiagonal(logDensity, x)
	return Evaluation{
		LogDensity:     logDensity,
		Score:          score,
		Diagonal:       diagonal,
		HessianProduct: func(v graph.Node) graph.Node { return b.Gradient(b.RowDot(score, v), x, v) },
		noDiagonal:     err,
	}
}

// DeriveScore is the evaluation of a model of which score (n, d) is given, and no log density.
func DeriveScore(b *graph.Builder, x, score graph.Node) Evaluation {
	diagonal, err := b.JacobianDiagonal(score, x)
	return Evaluation{
		Score:          score,
		Diagonal:       diagonal,
		HessianProduct: func(v graph.Node) graph.Node { return b.JacobianProduct(score, x, v) },
		noDiagonal:     err,
	}
}

// FromLogDensity is the model of d columns with the parameters params and the unnormalised
// log density f: f(b, x) is (n, 1) for rows x (n, d), written with the operations of b, each row
// by itself (see Derive). Parameters are read by b.Param, under different names.
func FromLogDensity(d int, params []*graph.Param, f func(b *graph.Builder, x graph.Node) graph.Node) Model {
	return fromLogDensity{d, params, f}
}

type fromLogDensity struct {
	d      int
	params []*graph.Param
	f      func(b *graph.Builder, x graph.Node) graph.Node
}

func (m fromLogDensity) Dim() int               { return m.d }
func (m fromLogDensity) Params() []*graph.Param { return m.params }

// Evaluate implements Model.
func (m fromLogDensity) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	return Derive(b, x, m.f(b, x))
}
