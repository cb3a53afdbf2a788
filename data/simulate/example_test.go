package simulate_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"missingscore/data/simulate"
)

// A Gaussian whose network is a star: column 1 is joined with others, and no others are
// joined.
func ExampleStar() {
	rng := rand.New(rand.NewPCG(3, 4))
	star, err := simulate.Star(4, rng)
	if err != nil {
		log.Fatal(err)
	}
	for j := range 4 {
		for k := range 4 {
			fmt.Printf("%6.2f", star.Precision.At(j, k))
		}
		fmt.Println()
	}
	table, err := star.Sample(100, rng)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Names, table.N)
	// Output:
	// 1.00  0.57  0.57  0.00
	//   0.57  1.00  0.00  0.00
	//   0.57  0.00  1.00  0.00
	//   0.00  0.00  0.00  1.00
	// [x1 x2 x3 x4] 100
}
