package graph_test

import (
	"fmt"
	"log"

	"missingscore/graph"
)

// Build once, run many times: the mean squared error of y = x w and its gradient for w.
func ExampleBuild() {
	w := graph.NewParam("w", 2, 1)
	p, err := graph.Build(func(b *graph.Builder) {
		x, y := b.Input("x", 3, 2), b.Input("y", 3, 1)
		errors := b.Sub(b.MatMul(false, false, x, b.Param(w)), y)
		b.Minimise(b.Scale(1.0/3, b.Sum(b.Map(graph.Square, errors))), w)
	})
	if err != nil {
		log.Fatal(err)
	}
	copy(p.Input("x"), []float64{1, 0, 0, 1, 1, 1})
	copy(p.Input("y"), []float64{1, 2, 3})
	for range 100 {
		if err := p.Run(); err != nil {
			log.Fatal(err)
		}
		for i, g := range p.Grad(w) {
			w.Value[i] -= 0.4 * g
		}
	}
	fmt.Printf("w = %.1f, loss %.1f\n", w.Value, p.Loss())
	// Output:
	// w = [1.0 2.0], loss 0.0
}

// A custom operation: its kernel, and its reverse rule in existing operations.
func ExampleBuilder_Apply() {
	x := graph.NewParam("x", 1, 3)
	p, err := graph.Build(func(b *graph.Builder) {
		in := b.Param(x)
		cube := b.Apply(graph.Op{
			Name: "cube", Rows: 1, Cols: 3,
			Kernel: func(out []float64, in [][]float64) error {
				for i, v := range in[0] {
					out[i] = v * v * v
				}
				return nil
			},
			Reverse: func(_, g graph.Node) []graph.Node {
				return []graph.Node{b.Prod(g, b.Scale(3, b.Map(graph.Square, in)))}
			},
		}, in)
		b.Minimise(b.Sum(cube), x)
	})
	if err != nil {
		log.Fatal(err)
	}
	copy(x.Value, []float64{1, 2, 3})
	if err := p.Run(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Loss(), p.Grad(x))
	// Output:
	// 36 [3 12 27]
}
