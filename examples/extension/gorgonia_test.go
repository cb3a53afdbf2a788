package extension_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"example.com/extension"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/trainers/optim"
)

// A model in a graph of Gorgonia's own, with an operation of Gorgonia's above it: its machine
// computes the score, and its solver makes a step of score matching.
func Example_gorgonia() {
	const n, d = 4, 2
	m := extension.NewTwoLayers(d, 3, rand.New(rand.NewPCG(1, 1)))
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("x"))
	var loss *gorgonia.Node
	params, err := graph.Extend(g, func(b *graph.Builder) {
		e := m.Evaluate(b, x)
		loss = b.Sum(b.Add(b.Square(e.Score), b.Scale(2, e.Diagonal)))
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean := gorgonia.Must(gorgonia.Mul(loss, gorgonia.NewConstant(1.0/n)))
	var trained gorgonia.Nodes
	for _, p := range m.Params() {
		trained = append(trained, params[p])
	}
	if _, err := gorgonia.Grad(mean, trained...); err != nil {
		fmt.Println(err)
		return
	}
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(trained...))
	defer machine.Close()
	solver := gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.05))
	rows := tensor.New(tensor.WithShape(n, d), tensor.WithBacking([]float64{0.3, 1, -1, 0.5, 2, -0.2, 0.1, -0.7}))
	for range 3 {
		machine.Reset()
		if err := gorgonia.Let(x, rows); err != nil {
			fmt.Println(err)
			return
		}
		if err := machine.RunAll(); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.2f ", mean.Value().Data())
		if err := solver.Step(gorgonia.NodesToValueGrads(trained)); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// -2.28 -2.33 -2.37
}

// Gorgonia's machine gives the library's log density, score and diagonal to the last digit.
func TestGorgoniasMachine(t *testing.T) {
	const n, d = 4, 2
	rows := []float64{0.3, 1, -1, 0.5, 2, -0.2, 0.1, -0.7}
	m := extension.NewTwoLayers(d, 3, rand.New(rand.NewPCG(1, 1)))
	again := extension.NewTwoLayers(d, 3, rand.New(rand.NewPCG(1, 2)))
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("x"))
	var e, other model.Evaluation
	_, err := graph.Extend(g, func(b *graph.Builder) { e = m.Evaluate(b, x) })
	require.NoError(t, err)
	_, err = graph.Extend(g, func(b *graph.Builder) { other = again.Evaluate(b, x) })
	require.NoError(t, err)
	outputs := gorgonia.Nodes{e.LogDensity, e.Score, e.Diagonal, other.Score}
	machine := gorgonia.NewTapeMachine(g.SubgraphRoots(outputs...))
	defer machine.Close()
	require.NoError(t, gorgonia.Let(x, tensor.New(tensor.WithShape(n, d), tensor.WithBacking(rows))))
	require.NoError(t, machine.RunAll())

	p, err := graph.Build(func(b *graph.Builder) {
		x := b.Input("x", n, d)
		e := m.Evaluate(b, x)
		b.Output("0", e.LogDensity)
		b.Output("1", e.Score)
		b.Output("2", e.Diagonal)
		b.Output("3", again.Evaluate(b, x).Score)
	})
	require.NoError(t, err)
	copy(p.Input("x"), rows)
	require.NoError(t, p.Run())
	for i, n := range outputs {
		require.Equal(t, p.Output(fmt.Sprint(i)), n.Value().Data(), i)
	}
	require.NotEqual(t, p.Output("1"), p.Output("3"), "two models in a graph are two")

	// A step of its Adam is one of the library's, with the gradients of a loss.
	g = gorgonia.NewGraph()
	x = gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("x"), gorgonia.WithValue(tensor.New(tensor.WithShape(n, d), tensor.WithBacking(rows))))
	matching := func(b *graph.Builder, e model.Evaluation) graph.Node {
		return b.Sum(b.Add(b.Square(e.Score), b.Scale(2, e.Diagonal)))
	}
	var loss graph.Node
	params, err := graph.Extend(g, func(b *graph.Builder) { loss = matching(b, m.Evaluate(b, x)) })
	require.NoError(t, err)
	p, err = graph.Build(func(b *graph.Builder) { b.Minimise(matching(b, m.Evaluate(b, b.Input("x", n, d))), m.Params()...) })
	require.NoError(t, err)
	copy(p.Input("x"), rows)
	require.NoError(t, p.Run())
	var trained gorgonia.Nodes
	for _, q := range m.Params() {
		trained = append(trained, params[q])
	}
	_, err = gorgonia.Grad(loss, trained...)
	require.NoError(t, err)
	step := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(trained...))
	defer step.Close()
	require.NoError(t, step.RunAll())
	require.Equal(t, p.Loss(), loss.Value().Data())
	var want, got [][]float64
	adam := optim.Adam{Rate: 0.05}
	for _, q := range m.Params() {
		copied := graph.NewParam(q.Name, q.Rows, q.Cols)
		copy(copied.Value, q.Value)
		one := adam
		one.Step([]*graph.Param{copied}, [][]float64{p.Grad(q)})
		want, got = append(want, copied.Value), append(got, q.Value)
	}
	require.NoError(t, gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.05)).Step(gorgonia.NodesToValueGrads(trained)))
	for i := range want {
		require.InDeltaSlice(t, want[i], got[i], 1e-7)
	}

	_, err = graph.Extend(gorgonia.NewGraph(), func(b *graph.Builder) { b.Failf("no") })
	require.ErrorContains(t, err, "no")
}
