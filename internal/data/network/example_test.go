package network_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
)

// The precision of three columns; the second and the third are not joined.
func precision() *mat.SymDense {
	return mat.NewSymDense(3, []float64{
		2, -0.8, 0.5,
		-0.8, 1, 0,
		0.5, 0, 1,
	})
}

// Edges strongest first. The sign of an association is that of the partial correlation,
// opposite to the precision's.
func ExampleNew() {
	p := precision()
	n, err := network.New([]string{"a", "b", "c"}, p, network.Threshold(p, 0.01))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range n.Edges {
		fmt.Printf("%s – %s %s%.2f\n", e.From, e.To, e.Sign(), max(e.PartialCorrelation, -e.PartialCorrelation))
	}
	// Output:
	// a – b +0.57
	// a – c -0.35
}
