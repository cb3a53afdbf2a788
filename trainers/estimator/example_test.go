package estimator_test

import (
	"fmt"
	"log"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

func ExampleEstimator_For() {
	m := model.NewGaussian(2, model.CholeskyFactor)
	exact, err := estimator.ByName("exact")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(exact.For(m, losses.Classical, nil).Title)
	positive := domain.All(2)
	clear(positive.Lower)
	fmt.Println(exact.For(m, losses.ObjectiveFor(positive, domain.Weight{}), positive).Title)
	fmt.Println(exact.Check(model.NewQuartic(2), losses.Classical, nil))
	// Output:
	// Marg-Exact
	// Marg-Exact (sampled)
	// method exact: it needs a Gaussian model; use var, variw or iw
}
