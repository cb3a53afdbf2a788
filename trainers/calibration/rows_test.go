package calibration

import (
	"context"
	"math/rand/v2"

	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
	"missingscore/trainers/fitted/diffusion"
)

// sample is by the command's sampler.
func sample(model, sampler string) Case {
	return ofRows(Case{Command: "sample", Model: model, Sampler: sampler}, diffusion.Options{})
}

// sampleAlong is along the levels of noise.
func sampleAlong(sampler, size string, o diffusion.Options) Case {
	return ofRows(Case{Command: "sample", Model: "gaussian along noise", Sampler: sampler, Size: size}, o)
}

// ofRows ranks a number of each true row among those of drawn ones: a random column's, or the
// sum of products of columns, that knows of dependences.
func ofRows(c Case, o diffusion.Options) Case {
	c.ranks = func(ctx context.Context, n int, seed uint64) ([]int, error) {
		f, err := subjects[c.Model].make()
		if err != nil {
			return nil, err
		}
		t, err := truths(f, n, seed)
		if err != nil {
			return nil, err
		}
		drawn, err := fitted.Sample(ctx, f, fitted.SampleConfig{Sampler: c.Sampler, N: n * Draws, Seed: seed, Diffusion: o})
		if err != nil {
			return nil, err
		}
		rng := stream.New(seed, stream.Permute)
		order := rng.Perm(n * Draws) // draws of one chain are not neighbours
		ranks := make([]int, n)
		for i := range n {
			of := number(rng)
			truth := of(t.Values[i*columns : (i+1)*columns])
			for _, k := range order[i*Draws : (i+1)*Draws] {
				if of(drawn.Values[k*columns:(k+1)*columns]) < truth {
					ranks[i]++
				}
			}
		}
		return ranks, nil
	}
	return c
}

// number is one of a row.
func number(rng *rand.Rand) func(row []float64) float64 {
	if j := rng.IntN(columns + 1); j < columns {
		return func(row []float64) float64 { return row[j] }
	}
	return func(row []float64) float64 {
		sum := 0.0
		for j, x := range row {
			sum += x * row[(j+1)%len(row)]
		}
		return sum
	}
}
