package source_test

import (
	"fmt"
	"log"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/trainers/source"
)

// What each kind of source says of itself.
func ExampleKind() {
	for _, name := range slices.Sorted(maps.Keys(source.Kinds)) {
		k := source.Kinds[name]
		fmt.Printf("%s: %s; random %t, trains %t\n", name, k.Note, k.Random, k.Imputer)
	}
	// Output:
	// chains: persistent Markov chains towards the model's conditional; random true, trains false
	// complete: no gaps; random false, trains false
	// exact: draws from a normal model's own conditional; random true, trains false
	// imputer: draws of a trained imputer; random true, trains true
	// proposal: independent draws from N(0, sd²); random true, trains false
	// zeros: zeros in the gaps; random false, trains false
}

// A normal row's missing cells given its observed ones: here x2 given x1 = 3.
func ExampleConditional() {
	c := source.Conditional{Mean: []float64{1, 5}, Precision: mat.NewSymDense(2, []float64{2, -1, -1, 2})}
	if err := c.Condition([]float64{1, 0}); err != nil {
		log.Fatal(err)
	}
	row := []float64{3, 0}
	c.Expect(row)
	fmt.Printf("%.1f\n", row)
	// Output:
	// [3.0 6.0]
}
