package diffusion_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"missingscore/data/noise"
	"missingscore/graph/model"
	"missingscore/nets"
	"missingscore/trainers/fitted/diffusion"
)

// Rows from the scores of noisy rows, by a network at its start, which has seen no data.
func ExampleSampler_Flow() {
	rng := rand.New(rand.NewPCG(1, 2))
	m, err := nets.NewScoreNetwork(2, nets.NetworkOptions{Hidden: []int{8}, NoiseConditional: true, Clean: nets.Level{Signal: 1, Noise: 0.01}}, rng)
	if err != nil {
		log.Fatal(err)
	}
	schedule, err := noise.Schedule{Kind: noise.Exploding}.WithDefaults()
	if err != nil {
		log.Fatal(err)
	}
	sampler, err := diffusion.New(m.(model.NoiseConditional), schedule, 1000)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := sampler.Flow(context.Background(), diffusion.Options{}, rng)
	if err != nil {
		log.Fatal(err)
	}
	variance := 0.0
	for _, x := range rows {
		variance += x * x / float64(len(rows))
	}
	fmt.Printf("%d numbers, variance %.1f\n", len(rows), variance)
	// Output:
	// 2000 numbers, variance 1.9
}
