// Package graphs draws true networks for experiments whose edges are not all alike. The star and
// the dense network of the paper are package simulate's.
package graphs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/simulate"
	"missingscore/internal/lanczos"
)

// The network of Colliders.
const (
	onHub    = 0.85 // correlation of a node with the hub
	onEffect = 0.55 // of a cause with its effect
)

// Colliders has two fifths of d nodes in one star whose leaves correlate with the hub by 0.85,
// so with each other by 0.7225, and of the rest each three are two independent causes and their
// effect, which correlates with both by 0.55. The causes have an edge, the partial correlation
// −0.55² / (1 − 0.55²) = −0.43, and do not correlate, and two leaves correlate more than an
// effect and a cause and have none: who ranks pairs by their correlations errs both ways, which on
// the paper's star nobody does. Variances are 1; up to two nodes are left without an edge. It
// fails for d < 5.
func Colliders(d int) (simulate.Gaussian, error) {
	if d < 5 {
		return simulate.Gaussian{}, fmt.Errorf("d = %d: a star and a collider need at least 5 nodes", d)
	}
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	leaves := 2*d/5 - 1
	left := 1 - onHub*onHub // variance of a leaf, given the hub
	p.SetSym(0, 0, 1+float64(leaves)*onHub*onHub/left)
	for k := 1; k <= leaves; k++ {
		p.SetSym(k, k, 1/left)
		p.SetSym(0, k, -onHub/left)
	}
	left = 1 - 2*onEffect*onEffect // of an effect, given its causes
	for a := leaves + 1; a+2 < d; a += 3 {
		b, effect := a+1, a+2
		p.SetSym(a, a, 1+onEffect*onEffect/left)
		p.SetSym(b, b, 1+onEffect*onEffect/left)
		p.SetSym(a, b, onEffect*onEffect/left)
		p.SetSym(a, effect, -onEffect/left)
		p.SetSym(b, effect, -onEffect/left)
		p.SetSym(effect, effect, 1/left)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

// Random joins each pair of d nodes with probability 3/(d−1), of few nodes ½, and each edge
// has a sign at random: P = I + w A with w = 0.8 / |λ_min(A)|, whose smallest eigenvalue is
// 0.2, of 400 nodes and more at least that. It is drawn again until it has an edge and a pair without one. It fails for d < 3.
func Random(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	return signed(d, rng, func(j, k int) bool { return rng.Float64() < min(3/float64(d-1), 0.5) })
}

// signed joins pairs j < k and gives each edge a sign at random.
func signed(d int, rng *rand.Rand, joined func(j, k int) bool) (simulate.Gaussian, error) {
	if d < 3 {
		return simulate.Gaussian{}, fmt.Errorf("d = %d: a network with signs at random needs at least 3 nodes", d)
	}
	a := mat.NewSymDense(d, nil)
	edges := 0
	for edges == 0 || edges == d*(d-1)/2 {
		edges = 0
		for j := range d {
			for k := j + 1; k < d; k++ {
				sign := 0.
				if joined(j, k) {
					sign = math.Copysign(1, rng.Float64()-0.5)
					edges++
				}
				a.SetSym(j, k, sign)
			}
		}
	}
	least, err := smallest(a)
	if err != nil {
		return simulate.Gaussian{}, err
	}
	p := mat.NewSymDense(d, nil)
	p.ScaleSym(0.8/math.Abs(least), a)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

// wide is from how many nodes on the eigenvalues are not all found.
const wide = 400

// smallest eigenvalue of a; of a wide one a lower bound, near to it, from its products with
// vectors.
func smallest(a *mat.SymDense) (float64, error) {
	d := a.SymmetricDim()
	if d < wide {
		var eigen mat.EigenSym
		if !eigen.Factorize(a, false) {
			return 0, fmt.Errorf("the eigenvalues of a network of %d nodes did not converge", d)
		}
		return eigen.Values(nil)[0], nil
	}
	at, sign := make([][]int, d), make([][]float64, d) // of the pairs that are joined
	for j := range d {
		for k := range d {
			if v := a.At(j, k); v != 0 {
				at[j], sign[j] = append(at[j], k), append(sign[j], v)
			}
		}
	}
	return lanczos.Smallest(context.Background(), d, func(y, x []float64) {
		for j := range y {
			y[j] = 0
			for i, k := range at[j] {
				y[j] += sign[j][i] * x[k]
			}
		}
	})
}
