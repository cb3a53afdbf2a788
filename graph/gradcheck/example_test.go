package gradcheck_test

import (
	"fmt"
	"log"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
)

// A model's score and its diagonal against central differences.
func ExampleModel() {
	score, diagonal, err := gradcheck.Model(model.NewQuartic(2), []float64{0.3, -1, 2, 0.5}, gradcheck.Step)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(score.Compared, score.Error < 1e-6, diagonal.Compared, diagonal.Error < 1e-6)
	// Output:
	// 4 true 4 true
}

// The gradient of a program against differences of its loss.
func ExampleParams() {
	w := graph.NewParam("w", 1, 3)
	copy(w.Value, []float64{0.5, -1, 2})
	p, err := graph.Build(func(b *graph.Builder) {
		b.Minimise(b.Sum(b.Map(graph.Logistic, b.Param(w))), w)
	})
	if err != nil {
		log.Fatal(err)
	}
	d, err := gradcheck.Params(p, []*graph.Param{w}, gradcheck.Step, func() (float64, error) {
		err := p.Run()
		return p.Loss(), err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Compared, d.Error < 1e-6)
	// Output:
	// 3 true
}
