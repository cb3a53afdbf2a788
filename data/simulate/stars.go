package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Star draws a Gaussian whose network is a star: node 0 is joined with
// each other node with probability 0.9 (paper, "Star shaped truncated graphical
// model"). With A the adjacency matrix, mean 0 and
//
//	P = I + w A,   w = 0.8 / |λ_min(A)|
//
// so that the smallest eigenvalue of P is 0.2; P = I if no pair is joined.
// It fails for d < 2.
func Star(d int, rng *rand.Rand) (Gaussian, error) { return simulateNetwork(d, 1, 0.9, rng) }

// Dense is Star with every pair joined with probability 0.5.
func Dense(d int, rng *rand.Rand) (Gaussian, error) { return simulateNetwork(d, d, 0.5, rng) }

// Stars is Star with k centres, nodes 0 … k−1, at the expected
// number of edges of one star: each of the k(d−k) + k(k−1)/2 pairs that hold a
// centre is joined with probability 0.9(d−1) over their number. It fails unless
// 1 ≤ k < d.
func Stars(d, k int, rng *rand.Rand) (Gaussian, error) {
	if k < 1 || k >= d {
		return Gaussian{}, fmt.Errorf("%d centres among %d nodes: there must be at least 1, and fewer than nodes", k, d)
	}
	pairs := k*(d-k) + k*(k-1)/2
	return simulateNetwork(d, k, 0.9*float64(d-1)/float64(pairs), rng)
}

// simulateNetwork joins each pair that holds one of the first centres nodes.
func simulateNetwork(d, centres int, probability float64, rng *rand.Rand) (Gaussian, error) {
	if d < 2 {
		return Gaussian{}, fmt.Errorf("d = %d: a network needs at least 2 nodes", d)
	}
	adjacency := mat.NewSymDense(d, nil)
	edges := 0
	for j := range min(centres, d) {
		for k := j + 1; k < d; k++ {
			if rng.Float64() < probability {
				adjacency.SetSym(j, k, 1)
				edges++
			}
		}
	}
	p := mat.NewSymDense(d, nil)
	if edges > 0 {
		var eigen mat.EigenSym
		if !eigen.Factorize(adjacency, false) {
			return Gaussian{}, fmt.Errorf("the eigenvalues of a network of %d nodes did not converge", d)
		}
		p.ScaleSym(0.8/math.Abs(eigen.Values(nil)[0]), adjacency)
	}
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return Gaussian{Mean: make([]float64, d), Precision: p}, nil
}
