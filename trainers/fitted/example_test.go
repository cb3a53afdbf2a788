package fitted_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/trainers/fitted"
)

func normal() *fitted.Model {
	g := model.NewGaussian(2, model.CholeskyFactor)
	if err := g.SetPrecision(mat.NewSymDense(2, []float64{2, -1, -1, 2})); err != nil {
		log.Fatal(err)
	}
	f, err := (&fitted.Saved{Kind: "gaussian", Model: g, Names: []string{"a", "b"}}).Fitted()
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// The row (2, missing), and one without gaps.
func gaps() *data.Table {
	return &data.Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{2, 0, 1, 3}, Observed: []bool{true, false, true, true}}
}

// b given a = 2 is N(1, 1/2).
func ExampleImpute() {
	const draws = 4000
	r, err := fitted.Impute(context.Background(), normal(), gaps(), fitted.ImputeConfig{Draws: draws, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	for k := range draws {
		mean += r.Values[2*k+1] / draws
	}
	fmt.Printf("%s, mean %.1f, observed cells as they were: %v\n", r.Sampler, mean, r.Values[2*draws:2*draws+2])
	// Output:
	// exact, mean 1.0, observed cells as they were: [1 3]
}
