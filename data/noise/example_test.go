package noise_test

import (
	"fmt"
	"log"

	"missingscore/data/noise"
)

// Levels of noise from the least to the most.
func ExampleSchedule_At() {
	s, err := noise.Schedule{Kind: noise.Exploding, Levels: 4}.WithDefaults()
	if err != nil {
		log.Fatal(err)
	}
	for k := range s.Levels {
		signal, sd := s.At(s.Time(k))
		fmt.Printf("%.2f x + %.2f ε\n", signal, sd)
	}
	// Output:
	// 1.00 x + 0.01 ε
	// 1.00 x + 0.10 ε
	// 1.00 x + 1.00 ε
	// 1.00 x + 10.00 ε
}
