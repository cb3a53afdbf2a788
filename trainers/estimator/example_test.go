package estimator_test

import (
	"fmt"
	"log"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// What a method needs and does follows from its three parts.
func ExampleByName() {
	for _, name := range []string{"var", "iw", "exact", "zeroed"} {
		e, err := estimator.ByName(name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s, %s, %s\n", e.Title, e.Source.Name, e.Weighting.Name(), e.Loss.Name())
		fmt.Printf("  draws %t, trains %t, needs a density %t, a normal model %t\n", e.Draws(), e.Trains(), e.NeedsDensity(), e.NeedsNormal())
	}
	// Output:
	// Marg-Var: imputer, uniform, marginal
	//   draws true, trains true, needs a density true, a normal model false
	// Marg-IW: proposal, self-normalised, marginal
	//   draws true, trains false, needs a density true, a normal model false
	// Marg-Exact: zeros, uniform, gaussian-marginal
	//   draws false, trains false, needs a density false, a normal model true
	// Zeroed: zeros, uniform, complete
	//   draws false, trains false, needs a density false, a normal model false
}

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
