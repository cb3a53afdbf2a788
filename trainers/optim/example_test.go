package optim_test

import (
	"fmt"

	"missingscore/graph"
	"missingscore/trainers/optim"
)

// Adam is a plain value: a copy goes on as the original does.
func ExampleAdam() {
	x := graph.NewParam("x", 1, 2)
	copy(x.Value, []float64{3, -2})
	step := func(a *optim.Adam) {
		a.Step([]*graph.Param{x}, [][]float64{{2 * x.Value[0], 2 * x.Value[1]}}) // of x₁² + x₂²
	}
	adam := optim.Adam{Rate: 0.1}
	for range 10 {
		step(&adam)
	}
	fmt.Printf("%.1f\n", x.Value)
	saved := adam.Clone()
	for range 200 {
		step(&saved)
	}
	fmt.Println(saved.Steps, adam.Steps, max(x.Value[0], -x.Value[0]) < 0.01)
	// Output:
	// [2.0 -1.0]
	// 210 10 true
}

// The penalty's step makes exact zeros.
func ExampleSoftThreshold() {
	fmt.Println(optim.SoftThreshold(0.7, 0.5) > 0, optim.SoftThreshold(0.4, 0.5), optim.SoftThreshold(-2, 0.5))
	// Output:
	// true 0 -1.5
}
