package compare

import (
	"context"
	"math"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers/inference"
	"missingscore/trainers/replicate"
)

// Permutation is what the two networks of permuted rows tell.
type Permutation struct {
	Differences []float64 // of weights, pairs j < k in column order
	Strength    float64   // S
	Unconverged bool
	Failure     string // why there are none; empty
}

// permute makes permutation k: as many rows of the pool as the first table has, drawn
// without replacement, are the first group, the others the second. Rows stay in the pool's
// order, on which sums depend in their last digits.
func (p Problem) permute(ctx context.Context, pool *data.Table, seed uint64, k int) (Permutation, error) {
	first := make([]bool, pool.N)
	for _, i := range stream.New(seed, stream.Permute, uint64(k)).Perm(pool.N)[:p.Tables[0].N] {
		first[i] = true
	}
	var rows [2][]int
	for i, in := range first {
		group := 1
		if in {
			group = 0
		}
		rows[group] = append(rows[group], i)
	}
	var found [2]replicate.Network
	for group, chosen := range rows {
		t, err := pool.Rows(chosen)
		if err == nil {
			spec := p.Spec(t)
			spec.Inference = inference.Config{}
			found[group], err = replicate.Estimate(ctx, t, spec)
		}
		if ctx.Err() != nil {
			return Permutation{}, ctx.Err()
		}
		if err != nil {
			return Permutation{Failure: err.Error()}, nil
		}
	}
	out := Permutation{Differences: make([]float64, len(found[0].Weights)), Unconverged: !found[0].Converged || !found[1].Converged}
	for i := range out.Differences {
		out.Differences[i] = found[0].Weights[i] - found[1].Weights[i]
	}
	out.Strength = math.Abs(strength(found[0].Weights) - strength(found[1].Weights))
	return out, nil
}
