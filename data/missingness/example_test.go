package missingness_test

import (
	"fmt"
	"log"

	"missingscore/data/missingness"
)

// High values of x1 hide themselves, and x2 is not measured under -1.
func ExampleParse() {
	text := `{"logistic": {"x1": {"intercept": 1, "slope": {"x1": -2}}}, "censored": {"x2": {"below": -1}}}`
	m, err := missingness.Parse([]byte(text), []string{"x1", "x2", "x3"})
	if err != nil {
		log.Fatal(err)
	}
	p := make([]float64, 3)
	for _, x := range [][]float64{{0, 0, 0}, {1, -2, 0}} {
		m.Observed(p, x)
		fmt.Printf("%v is observed with probabilities %.2f\n", x, p)
	}
	// Output:
	// [0 0 0] is observed with probabilities [0.73 1.00 1.00]
	// [1 -2 0] is observed with probabilities [0.27 0.00 1.00]
}
