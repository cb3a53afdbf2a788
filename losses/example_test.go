package losses_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
)

// One parameter step by hand.
func ExampleNew() {
	const rows, draws = 2, 2
	loss, objective := losses.Marginal, losses.Classical
	m := model.NewGaussian(2, model.CholeskyFactor)
	p, err := losses.New(graph.Float64, loss, losses.Uniform, m, objective, rows, draws)
	if err != nil {
		log.Fatal(err)
	}
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 0, 5, 6}, []bool{true, true, true, false, true, true})
	if err != nil {
		log.Fatal(err)
	}
	batch := data.NewBatch(rows, table.D)
	batch.Fill(table, []int{0, 1}, 1.0/rows)
	losses.Bind(p, loss, objective, batch, rand.New(rand.NewPCG(1, 2)))
	copy(p.Input(losses.InputX), []float64{1, 2, 1, 2, 3, -0.5, 3, 0.5})
	if err := p.Run(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.1f, gradient for μ %.1f\n", p.Output(losses.OutputReported)[0], p.Grad(m.Location))
	// Output:
	// loss 4.0, gradient for μ [-4.0 -2.0]
}
