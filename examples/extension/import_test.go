package extension_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
)

type node = *gorgonia.Node

func leaf(g *gorgonia.ExprGraph, name string, shape ...int) node {
	values := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range values {
		values[i] = math.Sin(float64(i + len(name)))
	}
	return gorgonia.NewTensor(g, gorgonia.Float64, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))))
}

// vᵀ tanh(xW + b) + log softplus(xu) − ½‖x‖²
func network(g *gorgonia.ExprGraph, x node) (node, error) {
	d := x.Shape()[1]
	must := gorgonia.Must
	z := must(gorgonia.Mul(x, leaf(g, "w", d, 3)))
	hidden := must(gorgonia.Tanh(must(gorgonia.BroadcastAdd(z, leaf(g, "bias", 1, 3), nil, []byte{0}))))
	energy := must(gorgonia.Mul(hidden, leaf(g, "v", 3)))
	plus := must(gorgonia.Log(must(gorgonia.Softplus(must(gorgonia.Mul(x, leaf(g, "direction", d)))))))
	quadratic := must(gorgonia.Sum(must(gorgonia.Square(x)), 1))
	return gorgonia.Sub(must(gorgonia.Add(energy, plus)), must(gorgonia.Mul(gorgonia.NewConstant(0.5), quadratic)))
}

func parts(g *gorgonia.ExprGraph, x node) [14]node {
	d := x.Shape()[1]
	must := gorgonia.Must
	c := func(v float64) node { return gorgonia.NewConstant(v) }
	square := must(gorgonia.Square(x))
	one := must(gorgonia.Add(square, c(1)))
	return [14]node{
		must(gorgonia.Sqrt(one)), must(gorgonia.Inverse(one)), must(gorgonia.InverseSqrt(one)), must(gorgonia.Cube(x)),
		must(gorgonia.Sigmoid(x)), must(gorgonia.Log1p(square)), must(gorgonia.Expm1(must(gorgonia.Neg(square)))), must(gorgonia.Exp(must(gorgonia.Div(x, c(3))))),
		must(gorgonia.HadamardDiv(x, one)), must(gorgonia.HadamardProd(x, must(gorgonia.Sub(c(2), x)))), must(gorgonia.Pow(one, c(1.5))),
		must(gorgonia.Mul(x, must(gorgonia.Transpose(leaf(g, "w", d, d))))),
		must(gorgonia.HadamardProd(x, must(gorgonia.SoftMax(x)))), must(gorgonia.Square(must(gorgonia.Concat(1, x, must(gorgonia.Exp(x)))))),
	}
}

// All parts less Σ x⁴.
func sums(g *gorgonia.ExprGraph, x node) (node, error) {
	must := gorgonia.Must
	square := must(gorgonia.Square(x))
	total := must(gorgonia.Neg(must(gorgonia.Sum(must(gorgonia.HadamardProd(square, square)), 1))))
	for i, p := range parts(g, x) {
		total = must(gorgonia.Add(total, must(gorgonia.Mul(gorgonia.NewConstant(1/float64(i+2)), must(gorgonia.Sum(p, 1))))))
	}
	return total, nil
}

func imported(t *testing.T, d int, f func(g *gorgonia.ExprGraph, x node) (node, error)) model.Model {
	t.Helper()
	q, err := graph.Import(d, f)
	require.NoError(t, err)
	return model.FromLogDensity(d, q.Params, q.LogDensity)
}

func TestImportedModels(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return imported(t, d, network) })
	modeltest.Run(t, func(d int) model.Model { return imported(t, d, sums) })
}

// Values of Gorgonia's machine; TestImportedModels has their derivatives.
func TestImportedOperations(t *testing.T) {
	const n, d = 4, 2
	rows := []float64{0.3, 1, -1, 0.5, 2, -0.2, 0.1, -0.7}
	for k := range [14]node{} {
		f := func(g *gorgonia.ExprGraph, x node) (node, error) { return gorgonia.Sum(parts(g, x)[k], 1) }
		g := gorgonia.NewGraph()
		x := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("x"),
			gorgonia.WithValue(tensor.New(tensor.WithShape(n, d), tensor.WithBacking(slices.Clone(rows)))))
		log, err := f(g, x)
		require.NoError(t, err)
		machine := gorgonia.NewTapeMachine(g)
		require.NoError(t, machine.RunAll())
		got, _ := at(t, imported(t, d, f), rows)
		require.InDeltaSlice(t, log.Value().Data(), got, 1e-12, "%d", k)
		require.NoError(t, machine.Close())
	}
}

func TestImportRefusals(t *testing.T) {
	for want, f := range map[string]func(g *gorgonia.ExprGraph, x node) (node, error){
		`operation "abs" is not supported`: func(_ *gorgonia.ExprGraph, x node) (node, error) {
			return gorgonia.Sum(gorgonia.Must(gorgonia.Abs(x)), 1)
		},
		`operation "MaxAlong[1]" is not supported`: func(_ *gorgonia.ExprGraph, x node) (node, error) { return gorgonia.Max(x, 1) },
		`leaf "w" of Gorgonia's graph needs a value`: func(g *gorgonia.ExprGraph, x node) (node, error) {
			return gorgonia.Mul(x, gorgonia.NewVector(g, gorgonia.Float64, gorgonia.WithShape(2), gorgonia.WithName("w")))
		},
		"is nil": func(*gorgonia.ExprGraph, node) (node, error) { return nil, nil },
		"the log density in Gorgonia's operations": func(_ *gorgonia.ExprGraph, x node) (node, error) { return gorgonia.Must(gorgonia.Mul(x, x)), nil },
	} {
		_, err := graph.Import(3, f)
		require.ErrorContains(t, err, want)
	}
	// Rows that influence each other are refused where the diagonal is needed.
	q, err := graph.Import(2, func(_ *gorgonia.ExprGraph, x node) (node, error) {
		z := gorgonia.Must(gorgonia.Mul(x, gorgonia.Must(gorgonia.Transpose(x))))
		return gorgonia.Sum(z, 1)
	})
	require.NoError(t, err)
	_, err = graph.Build(func(b *graph.Builder) {
		e := model.FromLogDensity(2, q.Params, q.LogDensity).Evaluate(b, b.Input("x", 3, 2))
		b.Output("diagonal", e.NeedDiagonal(b))
	})
	require.ErrorContains(t, err, "mixes rows")
}
