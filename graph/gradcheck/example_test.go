package gradcheck_test

import (
	"fmt"
	"log"

	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
)

// A model's score and its diagonal against central differences.
func ExampleModel() {
	score, diagonal, err := gradcheck.Model(model.NewQuartic(2), []float64{0.3, -1, 2, 0.5}, gradcheck.Step)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(score.Compared, score.Error < 1e-6, diagonal.Compared, diagonal.Error < 1e-6)
	// Output:
	// 4 true 4 true
}
