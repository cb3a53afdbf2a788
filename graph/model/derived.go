package model

import (
	"missingscore/graph"
)

// Derive returns the evaluation of an unnormalised density from its log density (n, 1) at the rows
// of x (n, d); row i must depend on row i of x only. A needed derivative that an operation lacks is
// an error that names the operation.
func Derive(b *graph.Builder, x, logDensity graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	if r, c := graph.Shape(logDensity); r != n || c != 1 {
		b.Failf("the log density of %d rows has shape (%d, %d), expected (%d, 1): one number per row", n, r, c, n)
	}
	score := graph.Gradient(b, logDensity, x)
	diagonal, err := graph.HessianDiagonal(b, logDensity, x)
	return Evaluation{
		LogDensity:     logDensity,
		Score:          score,
		Diagonal:       diagonal,
		HessianProduct: func(v graph.Node) graph.Node { return graph.Gradient(b, b.RowDot(score, v), x, v) },
		noDiagonal:     err,
	}
}

// DeriveScore is Derive from a score (n, d), without a log density.
func DeriveScore(b *graph.Builder, x, score graph.Node) Evaluation {
	diagonal, err := graph.JacobianDiagonal(b, score, x)
	return Evaluation{
		Score:          score,
		Diagonal:       diagonal,
		HessianProduct: func(v graph.Node) graph.Node { return graph.JacobianProduct(b, score, x, v) },
		noDiagonal:     err,
	}
}

// FromLogDensity makes a model of d columns from the unnormalised log density f(b, x), (n, 1) for
// rows x (n, d), as in Derive. f reads parameters by b.Param; their names must differ.
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

func (m fromLogDensity) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	return Derive(b, x, m.f(b, x))
}
