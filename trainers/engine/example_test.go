package engine_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/engine"
)

// At the truth the gradient is near zero, at another mean it is not.
func ExampleGradient() {
	rng := rand.New(rand.NewPCG(1, 2))
	truth, err := simulate.Normal(3, rng)
	if err != nil {
		log.Fatal(err)
	}
	complete, err := truth.Sample(2000, rng)
	if err != nil {
		log.Fatal(err)
	}
	table, err := data.HideMCAR(complete, 0.3, rng)
	if err != nil {
		log.Fatal(err)
	}
	m := model.NewGaussian(3, model.CholeskyFactor)
	if err := m.SetPrecision(truth.Precision); err != nil {
		log.Fatal(err)
	}
	for _, mean := range [][]float64{truth.Mean, {2, 0.5, 0.5}} {
		m.SetMean(mean)
		problem := engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}
		_, grads, err := engine.Gradient(problem, engine.Config{Method: "exact"}, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("mean %.1f: gradient near zero %t\n", mean, math.Abs(grads[0][0]) < 0.5)
	}
	// Output:
	// mean [0.5 0.5 0.5]: gradient near zero true
	// mean [2.0 0.5 0.5]: gradient near zero false
}
