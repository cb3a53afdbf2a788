// Package graphs draws true networks for experiments: random ones, hubs and chains, whose
// edges have signs at random. The star and the dense network of the paper, whose edges are
// all alike, are package simulate's.
package graphs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/simulate"
	"missingscore/internal/lanczos"
)

// Neighbours is the mean number of them in a random network.
const Neighbours = 3

// HubSize is how many nodes a hub and its neighbours are.
const HubSize = 10

// Kinds are the names of ByName.
var Kinds = []string{"random", "hub", "chain", "star", "dense", "uneven"}

// ByName draws a network of d nodes: "random", Random; "hub", Hubs; "chain", Chain; "star"
// and "dense", the paper's; "uneven", UnevenStar.
func ByName(kind string, d int, rng *rand.Rand) (simulate.Gaussian, error) {
	switch kind {
	case "random":
		return Random(d, rng)
	case "hub":
		return Hubs(d, rng)
	case "chain":
		return Chain(d, rng)
	case "star":
		return simulate.Star(d, rng)
	case "dense":
		return simulate.Dense(d, rng)
	case "uneven":
		return UnevenStar(d, rng)
	}
	return simulate.Gaussian{}, fmt.Errorf("graph %q: it is one of %v", kind, Kinds)
}

// Check refuses names that ByName does not know.
func Check(kind string) error {
	if !slices.Contains(Kinds, kind) {
		return fmt.Errorf("graph %q: it is one of %v", kind, Kinds)
	}
	return nil
}

// WeakEdge is the size of every second edge of an uneven star, of the others' size.
const WeakEdge = 0.3

// UnevenStar is the paper's star with every second of its edges weaker: P = I + w B with
// B_0k = 1 or WeakEdge where 0 and k are joined, and w = 0.8 / √Σ_k B_0k², so that the
// smallest eigenvalue of P is 0.2. Two leaves on strong edges then correlate more than the
// centre does with a leaf on a weak one: who ranks pairs by their correlations errs, which on
// the paper's star nobody does. It fails for d < 3.
func UnevenStar(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	if d < 3 {
		return simulate.Gaussian{}, fmt.Errorf("d = %d: an uneven star needs at least 3 nodes", d)
	}
	p := mat.NewSymDense(d, nil)
	edges, sum := 0, 0.0
	for k := 1; k < d; k++ {
		if rng.Float64() >= 0.9 {
			continue
		}
		size := 1.0
		if edges%2 == 1 {
			size = WeakEdge
		}
		p.SetSym(0, k, size)
		sum += size * size
		edges++
	}
	if edges > 0 {
		p.ScaleSym(0.8/math.Sqrt(sum), p)
	}
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

// Random joins each pair of d nodes with probability 3/(d−1), of few nodes ½, and each edge
// has a sign at random: P = I + w A with w = 0.8 / |λ_min(A)|, whose smallest eigenvalue is
// 0.2, of 400 nodes and more at least that. It is drawn again until it has an edge and a pair without one. It fails for d < 3.
func Random(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	return signed(d, rng, func(j, k int) bool { return rng.Float64() < min(Neighbours/float64(d-1), 0.5) })
}

// Hubs joins the first of each ten nodes with the other nine, P as Random's. It fails for d < 3.
func Hubs(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	return signed(d, rng, func(j, k int) bool { return j%HubSize == 0 && k/HubSize == j/HubSize })
}

// Chain joins each node with the next, P as Random's. It fails for d < 3.
func Chain(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	return signed(d, rng, func(j, k int) bool { return k == j+1 })
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
