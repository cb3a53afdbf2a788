package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Shapes are the networks that Graph draws.
var Shapes = []string{"random", "hub", "chain", "star"}

// hubSize is the number of columns around a hub, with it.
const hubSize = 10

// DefaultStrength is the partial correlation of an edge where that is possible.
const DefaultStrength = 0.25

// Graph draws a Gaussian with mean 0 and variances of the inverse of
//
//	P = I − r A∘S,
//
// A the adjacency matrix of a shape and S random signs, so that every edge has the partial
// correlation ±r:
//
//	random  as many edges as are asked for, among all pairs
//	hub     groups of ten columns, the first of each joined with the others
//	chain   each column joined with the next
//	star    the first column joined with all others
//
// A strength r of 0 stands for 0.25, or nine tenths of the most that leaves P positive
// definite, 1/|λ_min(−A∘S)|, if that is less. It fails for d < 2, more edges than pairs, none,
// an unknown shape, and an r that is too large, by saying how large it may be.
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
	var eigen mat.EigenSym
	if !eigen.Factorize(signed, false) {
		return Gaussian{}, fmt.Errorf("the eigenvalues of a network of %d columns did not converge", d)
	}
	most := 1 / math.Abs(slices.Min(eigen.Values(nil)))
	if strength == 0 {
		strength = min(DefaultStrength, 0.9*most)
	}
	if !(strength > 0) || strength >= most {
		return Gaussian{}, fmt.Errorf("no normal distribution has this network with partial correlations of %.3g: they must be positive and less than %.3g", strength, most)
	}
	p := mat.NewSymDense(d, nil)
	p.ScaleSym(strength, signed)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

// joined are the pairs of a shape.
func joined(shape string, d, edges int, rng *rand.Rand) (pairs [][2]int, err error) {
	switch shape {
	case "random":
		all := d * (d - 1) / 2
		if edges < 1 || edges > all {
			return nil, fmt.Errorf("%d edges among %d columns: there must be at least 1, and at most %d", edges, d, all)
		}
		chosen := rng.Perm(all)[:edges]
		slices.Sort(chosen)
		place := 0
		for j := range d {
			for k := j + 1; k < d; k++ {
				if _, in := slices.BinarySearch(chosen, place); in {
					pairs = append(pairs, [2]int{j, k})
				}
				place++
			}
		}
	case "hub":
		for k := range d {
			if hub := k / hubSize * hubSize; k > hub {
				pairs = append(pairs, [2]int{hub, k})
			}
		}
	case "chain":
		for k := 1; k < d; k++ {
			pairs = append(pairs, [2]int{k - 1, k})
		}
	case "star":
		for k := 1; k < d; k++ {
			pairs = append(pairs, [2]int{0, k})
		}
	default:
		return nil, fmt.Errorf("there is no network %q; they are %s", shape, strings.Join(Shapes, ", "))
	}
	return pairs, nil
}
