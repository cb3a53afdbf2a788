// Package graphs simulates Gaussian networks and judges estimates of them.
package graphs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/lanczos"
	"missingscore/trainers"
)

const (
	onHub    = 0.85 // correlation of a leaf with the hub
	onEffect = 0.55 // correlation of a cause with its effect
)

// Colliders returns a network whose edges cannot be ranked by correlations: a star of two fifths of
// the nodes (leaves correlate by 0.85 with the hub, 0.7225 with each other without an edge), and
// pairs of causes with an effect that correlates by 0.55 with each; the causes' partial correlation
// is −0.43. It needs d ≥ 5.
func Colliders(d int) simulate.Gaussian {
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	leaves := 2*d/5 - 1
	left := 1 - onHub*onHub // variance of a leaf given the hub
	p.SetSym(0, 0, 1+float64(leaves)*onHub*onHub/left)
	for k := 1; k <= leaves; k++ {
		p.SetSym(k, k, 1/left)
		p.SetSym(0, k, -onHub/left)
	}
	left = 1 - 2*onEffect*onEffect // variance of an effect given its causes
	for a := leaves + 1; a+2 < d; a += 3 {
		b, effect := a+1, a+2
		p.SetSym(a, a, 1+onEffect*onEffect/left)
		p.SetSym(b, b, 1+onEffect*onEffect/left)
		p.SetSym(a, b, onEffect*onEffect/left)
		p.SetSym(a, effect, -onEffect/left)
		p.SetSym(b, effect, -onEffect/left)
		p.SetSym(effect, effect, 1/left)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}
}

// Random joins each pair of d nodes with probability min(3/(d−1), ½): P = I + w A with random signs
// A_jk = ±1, w = 0.8 / |λ_min(A)|. A network with no or all edges is redrawn. It needs d ≥ 3.
func Random(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	a := mat.NewSymDense(d, nil)
	edges := 0
	for edges == 0 || edges == d*(d-1)/2 {
		edges = 0
		for j := range d {
			for k := j + 1; k < d; k++ {
				sign := 0.
				if rng.Float64() < min(3/float64(d-1), 0.5) {
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

// wide is the number of nodes from which smallest uses the Lanczos method.
const wide = 400

func smallest(a *mat.SymDense) (float64, error) {
	d := a.SymmetricDim()
	if d < wide {
		var eigen mat.EigenSym
		if !eigen.Factorize(a, false) {
			return 0, fmt.Errorf("the eigenvalues of a network of %d nodes did not converge", d)
		}
		return eigen.Values(nil)[0], nil
	}
	at, sign := make([][]int, d), make([][]float64, d)
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

// Sample draws n rows of the truth; with below > 0 it cuts off that many columns, from the first,
// below their quantiles. The support is nil for R^d.
func Sample(truth simulate.Gaussian, n, below int, quantile float64, rng *rand.Rand) (support *domain.Domain, t *data.Table, err error) {
	if below > 0 {
		if support, err = truth.TruncateBelow(below, quantile); err != nil {
			return nil, nil, err
		}
	}
	t, err = truth.SampleInside(support, n, rng)
	return support, t, err
}

// Edges returns the pairs with P_jk ≠ 0.
func Edges(truth simulate.Gaussian) network.Adjacency {
	return network.Threshold(truth.Precision, 1e-12)
}

// Recovery returns the AUC and the highest F1 of the networks of a path. It fails if the truth has
// no edge or all edges.
func Recovery(truth network.Adjacency, path []network.Adjacency) (auc, best float64, err error) {
	var rates []network.Rate
	for _, found := range path {
		rate, err := network.Compare(truth, found)
		if err != nil {
			return 0, 0, err
		}
		rates, best = append(rates, rate), max(best, F1(truth, found))
	}
	return network.AUC(rates), best, nil
}

// Joined returns the network of pairs of d columns, numbered from 0.
func Joined(pairs [][]float64, d int) network.Adjacency {
	a := network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}
	for _, p := range pairs {
		j, k := int(min(p[0], p[1])), int(max(p[0], p[1]))
		a.Edge[j*(2*d-j-1)/2+k-j-1] = true
	}
	return a
}

// Thresholded returns the networks of a path of precisions.
func Thresholded(path []*mat.SymDense, threshold float64) (networks []network.Adjacency) {
	for _, p := range path {
		networks = append(networks, network.Threshold(p, threshold))
	}
	return networks
}

// Chosen returns the precision of a result with 0 for pairs without an edge.
func Chosen(r *trainers.NetworkResult) *mat.SymDense {
	p := mat.NewSymDense(len(r.Names), nil)
	for j := range r.Names {
		for k := range j + 1 {
			if j == k || r.Adjacency.Has(k, j) {
				p.SetSym(k, j, r.Precision.At(k, j))
			}
		}
	}
	return p
}

// Bias returns the mean over edges (truth ≠ 0) of sign(ρ)(ρ̂ − ρ), of partial correlations.
func Bias(truth, found []float64) float64 {
	sum, edges := 0.0, 0.0
	for i, rho := range truth {
		if rho != 0 {
			sum += math.Copysign(1, rho) * (found[i] - rho)
			edges++
		}
	}
	return sum / edges
}

// WithoutFirst returns two precisions of the variables without the first: the naive P₂₂, and the
// true one of the marginal distribution,
//
//	P₂₂ − P₂₁ P₁₂ / P₁₁
//
// (paper, appendix "Untruncated Gaussian Model", figure normal_marginalisation).
func WithoutFirst(precision mat.Symmetric) (naive, marginal *mat.SymDense) {
	d := precision.SymmetricDim()
	naive = mat.NewSymDense(d-1, nil)
	first := mat.NewVecDense(d-1, nil)
	for j := 1; j < d; j++ {
		first.SetVec(j-1, precision.At(0, j))
		for k := j; k < d; k++ {
			naive.SetSym(j-1, k-1, precision.At(j, k))
		}
	}
	marginal = mat.NewSymDense(d-1, nil)
	marginal.SymRankOne(naive, -1/precision.At(0, 0), first)
	return naive, marginal
}

// Missed returns ‖naive − marginal‖ / ‖marginal‖, Frobenius norms over from ≤ k < to; 0 if the
// marginal is 0 there.
func Missed(naive, marginal mat.Symmetric, from, to int) float64 {
	gap, all := 0.0, 0.0
	for k := from; k < to; k++ {
		for j := range k {
			gap += math.Pow(naive.At(j, k)-marginal.At(j, k), 2)
			all += math.Pow(marginal.At(j, k), 2)
		}
	}
	if all == 0 {
		return 0
	}
	return math.Sqrt(gap / all)
}

// F1 is 2 TP / (2 TP + FP + FN); 0 if neither has an edge.
func F1(truth, estimate network.Adjacency) float64 {
	hits := 0
	for i, edge := range truth.Edge {
		if edge && estimate.Edge[i] {
			hits++
		}
	}
	return 2 * float64(hits) / float64(max(1, truth.Count()+estimate.Count()))
}
