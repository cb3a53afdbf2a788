package model_test

import (
	"fmt"
	"log"

	"missingscore/data/missingness"
	"missingscore/graph/model"
)

// The numbers of a model at points: log q up to a constant, and the score ∇log q.
func ExampleNewEvaluator() {
	e, err := model.NewEvaluator(model.NewQuartic(2), 2, false)
	if err != nil {
		log.Fatal(err)
	}
	logs, score, err := e.At([]float64{1, 1, 1, -2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log q %.1f, score %.1f\n", logs, score)
	// Output:
	// log q [-1.0 -8.5], score [-2.0 -2.0 -2.0 16.0]
}

// A density of rows and their gaps together, where high values of x1 hide themselves.
func ExampleJoint() {
	law := missingness.NewLogistic(2)
	law.Intercept[0] = 0
	law.Slope.Set(0, 0, -2)
	joint := &model.Joint{Model: model.NewGaussian(2, model.CholeskyFactor), Missingness: model.NewLogisticMissingness(law)}
	e, err := model.NewEvaluator(joint, 2, true)
	if err != nil {
		log.Fatal(err)
	}
	e.SetMask([]float64{1, 1, 0, 1})
	_, score, err := e.At([]float64{0, 2, 0, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("score where x1 is observed %.1f, where it is missing %.1f\n", score[:2], score[2:])
	// Output:
	// score where x1 is observed [-1.0 -2.0], where it is missing [1.0 -2.0]
}
