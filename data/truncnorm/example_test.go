package truncnorm_test

import (
	"fmt"
	"math"

	"missingscore/data/truncnorm"
)

// Standard normals taken to draws above 3.
func ExampleTransport() {
	for _, z := range []float64{-1, 0, 1} {
		fmt.Printf("%.3f\n", truncnorm.Transport(z, 3, math.Inf(1)))
	}
	// Output:
	// 3.052
	// 3.205
	// 3.522
}
