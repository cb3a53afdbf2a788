package descent_test

import (
	"fmt"
	"log"
	"math"
	"os"

	"missingscore/trainers/descent"
)

// A history as in history.csv. What there is no number of stays empty.
func ExampleWriteHistory() {
	none := math.NaN() // no rows are held out, and no gradient is recorded
	history := []descent.Record{
		{Epoch: 1, Iteration: 10, Loss: -0.5, EffectiveSize: 7.5, HeldOut: none, Gradient: none},
		{Epoch: 2, Iteration: 20, Loss: -0.75, EffectiveSize: 8, HeldOut: none, Gradient: none},
	}
	if err := descent.WriteHistory(os.Stdout, history); err != nil {
		log.Fatal(err)
	}
	// Output:
	// iteration,epoch,loss,effective_sample_size
	// 10,1,-0.5,7.5
	// 20,2,-0.75,8
}

// A loss that no longer falls is converged.
func ExampleTrend() {
	var falling, level []descent.Record
	for i := range 50 {
		falling = append(falling, descent.Record{Epoch: i + 1, Loss: -float64(i)})
		level = append(level, descent.Record{Epoch: i + 1, Loss: -2 + float64(i%2)/100})
	}
	for _, h := range [][]descent.Record{falling, level} {
		converged, verdict := descent.Trend(h)
		fmt.Println(converged, verdict)
	}
	// Output:
	// false NOT converged: over the last 10 epochs the loss still fell by 10
	// true converged: over the last 10 epochs the loss changed by 0 ± 0.0024
}
