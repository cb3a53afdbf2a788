package domain_test

import (
	"fmt"
	"log"
	"math"

	"missingscore/data/domain"
)

// A domain in a file, for the columns of a table.
func ExampleParse() {
	text := `{"lower": {"x1": 0}, "halfspace": {"a": {"x1": 1, "x2": 1}, "b": 2}}`
	s, err := domain.Parse([]byte(text), []string{"x1", "x2"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Lower, s.Upper, s.Half)
	fmt.Println(s.Contains([]float64{0.5, 1}), s.Contains([]float64{1.5, 1}))
	_, err = domain.Parse([]byte(`{"lower": {"x3": 0}}`), []string{"x1", "x2"})
	fmt.Println(err)
	// Output:
	// [0 -Inf] [+Inf +Inf] [{[1 1] 2}]
	// true false
	// there is no column "x3"; columns are x1, x2
}

// The weight g rises from the bound of an observed coordinate up to the cap.
func ExampleWeight_At() {
	s := &domain.Domain{Lower: []float64{0, 0}, Upper: []float64{math.Inf(1), math.Inf(1)}}
	w, mask := domain.Weight{Cap: 1}, []float64{1, 1}
	var g, slope [2]float64
	for _, x := range [][]float64{{0, 3}, {0.25, 3}, {0.75, 3}} {
		w.At(s, x, mask, g[:], slope[:], &domain.Tangent{})
		fmt.Println(x, g, slope)
	}
	// Output:
	// [0 3] [0 1] [1 0]
	// [0.25 3] [0.25 1] [1 0]
	// [0.75 3] [0.75 1] [1 0]
}
