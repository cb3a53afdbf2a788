package estimator_test

import (
	"fmt"
	"log"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// A method falls back on another where its closed form ends.
func ExampleFor() {
	m := model.NewGaussian(2, model.CholeskyFactor)
	e, err := estimator.For("exact", m, losses.Classical{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Title)
	positive := domain.All(2)
	clear(positive.Lower)
	e, err = estimator.For("exact", m, losses.ObjectiveFor(positive, domain.Weight{}), positive)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Title)
	fmt.Println(e.Check(model.NewQuartic(2), losses.Classical{}, nil))
	// Output:
	// Marg-Exact
	// Marg-Exact (sampled)
	// method exact-mc: it needs a Gaussian model, this is another; use var, variw or iw
}
