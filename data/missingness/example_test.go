package missingness_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"missingscore/data"
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

// A detection limit: what is under it is missing, all the rest is observed.
func ExampleHide() {
	complete, err := data.NewTable([]string{"a", "b"}, []float64{-2, 1, 0.5, 2, -0.1, 3, 4, 5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	limit := missingness.NewCensored(2)
	limit.Below[0] = 0
	table, err := missingness.Hide(complete, limit, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Observed)
	if err := (&missingness.Model{Censored: limit}).Write(os.Stdout, table.Names); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [false true true true false true true true]
	// {"censored":{"a":{"below":0}}}
}
