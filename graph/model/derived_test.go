package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
)

// Every operation of row-wise log densities, in both factors of a product.
func TestDerivedOperations(t *testing.T) {
	type node = graph.Node
	const k = 3
	p := func(b *graph.Builder, name string, rows, cols int, params *[]*graph.Param) node {
		for _, q := range *params {
			if q.Name == name {
				return b.Param(q)
			}
		}
		q := graph.NewParam(name, rows, cols)
		for i := range q.Value {
			q.Value[i] = 0.6 * math.Sin(float64(3*i+len(name)+rows))
		}
		*params = append(*params, q)
		return b.Param(q)
	}
	for name, f := range map[string]func(b *graph.Builder, x node, p func(name string, rows, cols int) node) node{
		"logistics": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			_, d := graph.Shape(x)
			z := b.AddRow(b.MatMul(false, true, x, p("w", k, d)), p("c", 1, k))
			return b.RowSum(b.Prod(b.Map(graph.Logistic, z), b.Map(graph.LogLogistic, b.Map(graph.Complement, b.Map(graph.Square, z)))))
		},
		"exponentials of columns": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			n, d := graph.Shape(x)
			scaled := b.Prod(b.Map(graph.Exp, b.Scale(0.5, x)), b.Rows(p("scale", 1, d), n))
			return b.RowSum(b.Sub(b.Map(graph.Square, scaled), b.Prod(scaled, b.Columns(b.RowSum(x), d))))
		},
		"parts of rows": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			_, d := graph.Shape(x)
			z := b.Map(graph.Tanh, b.Affine(x, p("w", d, 2*k), p("c", 1, 2*k)))
			parts := graph.SplitRows(b, z, 2)
			joined := graph.JoinRows(b, b.Prod(parts, b.Map(graph.Square, parts)), 2)
			return b.Add(b.RowSum(b.MatMul(false, false, joined, p("v", 2*k, 2))), b.RowDot(z, joined))
		},
		"groups": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			_, d := graph.Shape(x)
			z := graph.SplitRows(b, b.MatMul(false, false, graph.ConcatColumns(b, x, b.Map(graph.Square, x)), p("w", 2*d, 2*k)), 2) // (n·2, k)
			w := b.RowSum(b.Map(graph.Softplus, z))                                                                                 // (n·2, 1)
			c := b.MatMul(false, false, x, p("c", d, k))                                                                            // (n, k)
			mean := graph.GroupMean(b, w, z, 2)
			outer := b.GroupSum(graph.GroupOuter(b, c, w, 2), 2)
			square := b.GroupSum(graph.GroupSquares(b, c, z, 2), 2)
			return b.Scale(0.1, b.Add(b.RowDot(mean, outer), b.Add(square, b.GroupSum(b.GroupDot(c, b.Map(graph.Square, z), 2), 2))))
		},
		"weights": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			_, d := graph.Shape(x)
			z := b.MatMul(false, false, b.GroupRepeat(x, 2), p("w", d, 1)) // (n·2, 1), equal in pairs
			z = b.Add(z, graph.SplitRows(b, b.MatMul(false, false, b.Map(graph.Square, x), p("u", d, 2)), 2))
			w := graph.GroupSoftmax(b, z, 2)
			return b.Add(b.GroupSum(b.Prod(w, b.Map(graph.Square, z)), 2), graph.GroupLogSumExp(b, z, 2))
		},
		"a repeated row": func(b *graph.Builder, x node, p func(string, int, int) node) node {
			n, d := graph.Shape(x)
			row := b.Rows(p("w", 1, d), n)
			return b.Sub(b.Map(graph.Square, b.GroupDot(b.Map(graph.Square, x), row, 1)), b.RowDot(x, b.Prod(x, row)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, func(d int) model.Model {
				var params []*graph.Param
				expression := func(b *graph.Builder, x node) node {
					return f(b, x, func(name string, rows, cols int) node { return p(b, name, rows, cols, &params) })
				}
				_, err := graph.Build(func(b *graph.Builder) { b.Output("log q", expression(b, b.Input("x", 2, d))) })
				require.NoError(t, err)
				return model.FromLogDensity(d, params, expression)
			})
		})
	}
}
