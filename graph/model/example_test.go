package model_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/missingness"
	"missingscore/graph/model"
)

// A normal density with a known precision.
func ExampleNewGaussian() {
	g := model.NewGaussian(2, model.CholeskyFactor)
	if err := g.SetPrecision(mat.NewSymDense(2, []float64{2, -0.5, -0.5, 1})); err != nil {
		log.Fatal(err)
	}
	g.SetMean([]float64{1, 3})
	for _, q := range g.Quantities() {
		fmt.Printf("%s %.1f\n", q.Name, q.Value)
	}
	// Output:
	// mean [1.0 3.0]
	// precision [2.0 -0.5 -0.5 1.0]
}

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

// A registered model by its name, with options as in files and on the command line.
func ExampleNew() {
	rng := rand.New(rand.NewPCG(1, 2))
	m, err := model.New("mixture", 3, []byte(`{"components": 2}`), rng)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range m.Params() {
		fmt.Println(p.Name, p.Rows, p.Cols)
	}
	_, err = model.New("mixture", 3, []byte(`{"component": 2}`), rng)
	fmt.Println(err)
	// Output:
	// log weights 2 1
	// means 2 3
	// log sds 2 3
	// model mixture: options {"component": 2}: unknown field "component"; it should look like {"components": …, "levels": …}
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
