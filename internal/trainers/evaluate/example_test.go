package evaluate_test

import (
	"fmt"
	"log"

	"missingscore/graph/model"
	"missingscore/internal/trainers/evaluate"
)

// How far a fitted normal's score is from the true one's.
func ExampleGaussianFisher() {
	truth, fit := model.NewGaussian(2, model.CholeskyFactor), model.NewGaussian(2, model.CholeskyFactor)
	fit.SetMean([]float64{1, 0})
	divergence, err := evaluate.GaussianFisher(fit, truth)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", divergence)
	// Output:
	// 1.0
}
