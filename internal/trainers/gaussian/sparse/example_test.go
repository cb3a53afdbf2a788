package sparse_test

import (
	"context"
	"fmt"
	"log"

	"missingscore/internal/trainers/gaussian/sparse"
)

func ExampleLasso() {
	l := sparse.Lasso{D: 3, S: []float64{1, 0.6, 0.36, 0.6, 1, 0.6, 0.36, 0.6, 1}}
	p := sparse.Identity(3)
	previous := 1.2
	for _, lambda := range []float64{1, 0.5} {
		if _, err := l.Minimise(context.Background(), p, lambda, 2*lambda-previous); err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.At)
		fmt.Printf("%.3f\n", p.Value)
		previous = lambda
	}
	// Output:
	// [[0 1] [1 2]]
	// [-0.156 -0.156]
	// [[0 1] [1 2]]
	// [-0.547 -0.547]
}
