package mcmc_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/trainers/mcmc"
)

// Chains of a standard normal restricted to positive numbers, whose mean is √(2/π).
func ExampleHMC() {
	rng := rand.New(rand.NewPCG(1, 2))
	positive := domain.All(1)
	positive.Lower[0] = 0
	start := make([]float64, 2000)
	for i := range start {
		start[i] = 0.1 + rng.Float64()
	}
	r, err := mcmc.HMC(context.Background(), model.NewGaussian(1, model.CholeskyFactor), positive, start, mcmc.Options{WarmUp: 100, Draws: 100}, rng)
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	for _, x := range r.Last {
		mean += x / float64(len(r.Last))
	}
	fmt.Printf("mean %.1f, R-hat %.1f\n", mean, r.WorstRHat())
	// Output:
	// mean 0.8, R-hat 1.0
}
