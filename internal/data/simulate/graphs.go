package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Shapes lists the networks of Graph.
var Shapes = []string{"random", "hub", "chain", "star"}

const hubSize = 10

const defaultStrength = 0.25

// Graph draws a Gaussian with mean 0 and precision
//
//	P = I − r A∘S,
//
// with A the adjacency matrix of a shape and S random signs; edges have the partial correlation ±r:
//
//	random  as many edges as are asked for, among all pairs
//	hub     groups of ten columns, the first of each joined with the others
//	chain   each column joined with the next
//	star    the first column joined with all others
//
// Strength 0 is r = 0.25, or nine tenths of the limit of positive definiteness, 1/|λ_min(−A∘S)|, if
// that is less. It fails for d < 2, an invalid number of edges, an unknown shape, or an r beyond the limit.
func Graph(shape string, d, edges int, strength float64, rng *rand.Rand) (Gaussian, error) {
	if d < 2 {
		return Gaussian{}, fmt.Errorf("d = %d: a network needs at least 2 columns", d)
	}
	pairs, err := joined(shape, d, edges, rng)
	if err != nil {
		return Gaussian{}, err
	}
	signed := mat.NewSymDense(d, nil)
	for _, p := range pairs {
		sign := 1.0
		if rng.IntN(2) == 0 {
			sign = -1
		}
		signed.SetSym(p[0], p[1], -sign)
	}
	values, err := eigenvalues(signed)
	if err != nil {
		return Gaussian{}, err
	}
	most := 1 / math.Abs(values[0])
	if strength == 0 {
		strength = min(defaultStrength, 0.9*most)
	}
	if !(strength > 0) || strength >= most {
		return Gaussian{}, fmt.Errorf("no normal distribution has this network with partial correlations of %.3g: they must be positive and less than %.3g", strength, most)
	}
	return Gaussian{Mean: make([]float64, d), Precision: scaled(strength, signed, 1)}, nil
}

func eigenvalues(m *mat.SymDense) ([]float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		return nil, fmt.Errorf("the eigenvalues of a matrix of %d columns did not converge", m.SymmetricDim())
	}
	return eigen.Values(nil), nil
}

func scaled(by float64, m *mat.SymDense, diagonal float64) *mat.SymDense {
	p := mat.NewSymDense(m.SymmetricDim(), nil)
	p.ScaleSym(by, m)
	for j := range m.SymmetricDim() {
		p.SetSym(j, j, diagonal)
	}
	return p
}

func joined(shape string, d, edges int, rng *rand.Rand) (pairs [][2]int, err error) {
	before := map[string]func(k int) int{ // the column that k is joined with, or k
		"hub":   func(k int) int { return k / hubSize * hubSize },
		"chain": func(k int) int { return k - 1 },
		"star":  func(int) int { return 0 },
	}[shape]
	switch {
	case shape == "random":
		var all [][2]int
		for j := range d {
			for k := j + 1; k < d; k++ {
				all = append(all, [2]int{j, k})
			}
		}
		if edges < 1 || edges > len(all) {
			return nil, fmt.Errorf("%d edges among %d columns: there must be at least 1, and at most %d", edges, d, len(all))
		}
		chosen := rng.Perm(len(all))[:edges]
		slices.Sort(chosen)
		for _, i := range chosen {
			pairs = append(pairs, all[i])
		}
		return pairs, nil
	case before == nil:
		return nil, fmt.Errorf("there is no network %q; they are %s", shape, strings.Join(Shapes, ", "))
	}
	for k := 1; k < d; k++ {
		if j := before(k); j < k {
			pairs = append(pairs, [2]int{j, k})
		}
	}
	return pairs, nil
}

// Star draws a Gaussian whose node 0 is joined with each other node with probability 0.9 (paper,
// "Star shaped truncated graphical model"). With A the adjacency matrix, mean 0 and
//
//	P = I + w A,   w = 0.8 / |λ_min(A)|
//
// It fails for d < 2.
func Star(d int, rng *rand.Rand) (Gaussian, error) { return simulateNetwork(d, 1, 0.9, rng) }

// Dense is Star with every pair joined with probability 0.5.
func Dense(d int, rng *rand.Rand) (Gaussian, error) { return simulateNetwork(d, d, 0.5, rng) }

// Stars is Star with k centres, nodes 0 … k−1, at the expected number of edges of one star. It
// fails unless 1 ≤ k < d.
func Stars(d, k int, rng *rand.Rand) (Gaussian, error) {
	if k < 1 || k >= d {
		return Gaussian{}, fmt.Errorf("%d centres among %d nodes: there must be at least 1, and fewer than nodes", k, d)
	}
	pairs := k*(d-k) + k*(k-1)/2
	return simulateNetwork(d, k, 0.9*float64(d-1)/float64(pairs), rng)
}

func simulateNetwork(d, centres int, probability float64, rng *rand.Rand) (Gaussian, error) {
	if d < 2 {
		return Gaussian{}, fmt.Errorf("d = %d: a network needs at least 2 nodes", d)
	}
	adjacency, weight := mat.NewSymDense(d, nil), 0.0
	for j := range min(centres, d) {
		for k := j + 1; k < d; k++ {
			if rng.Float64() < probability {
				adjacency.SetSym(j, k, 1)
			}
		}
	}
	values, err := eigenvalues(adjacency)
	if err != nil {
		return Gaussian{}, err
	}
	if values[0] != 0 { // else no pair is joined
		weight = 0.8 / math.Abs(values[0])
	}
	return Gaussian{Mean: make([]float64, d), Precision: scaled(weight, adjacency, 1)}, nil
}

// Quartic draws θ (d, d) of a quartic model log q = Σ θ_ij x_i² x_j²: −I plus couplings ±0.4, each
// pair coupled with probability 2/(d−1), shrunk so that the largest eigenvalue is at most −0.1. The
// paper's "Non-Gaussian Model" does not specify θ. It fails for d < 2.
func Quartic(d int, rng *rand.Rand) (*mat.SymDense, error) {
	if d < 2 {
		return nil, fmt.Errorf("d = %d: the quartic experiment needs at least 2 columns", d)
	}
	couplings := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j + 1; k < d; k++ {
			if rng.Float64() < 2/float64(d-1) {
				couplings.SetSym(j, k, 0.4)
				if rng.Float64() < 0.5 {
					couplings.SetSym(j, k, -0.4)
				}
			}
		}
	}
	values, err := eigenvalues(couplings)
	if err != nil {
		return nil, err
	}
	shrink := 1.0
	if top := values[d-1]; top > 0.9 {
		shrink = 0.9 / top
	}
	return scaled(shrink, couplings, -1), nil
}
