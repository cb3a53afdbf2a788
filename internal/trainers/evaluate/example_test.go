package evaluate_test

import (
	"fmt"
	"log"

	"missingscore/data"
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

// All gradients that a fit of a model would use, against differences.
func ExampleGradients() {
	table, err := data.ReadCSV("../../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Wind"}})
	if err != nil {
		log.Fatal(err)
	}
	z, _ := data.Standardise(table)
	checks, err := evaluate.Gradients(z, model.NewQuartic(2), nil, 20, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range checks {
		fmt.Println(c.OK, c.Name)
	}
	// Output:
	// true score of the model
	// true diagonal of the model
	// true Hessian products of the model
	// true pseudo-loss (P), importance weights
	// true direct Marg-IW loss
	// true imputer loss kl
	// true imputer loss fisher
}
