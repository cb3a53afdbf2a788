package networks

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// neighbours is the mean number of them in a random network.
const neighbours = 3

// Random joins each pair of d columns with probability 3/(d−1), of few columns ½, and each edge has a sign at
// random: P = I + w A with w = 0.8 / |λ_min(A)|, whose smallest eigenvalue is 0.2. It is
// drawn again until it has an edge and a pair without one. It fails for d < 3.
func Random(d int, rng *rand.Rand) (simulate.Gaussian, error) {
	if d < 3 {
		return simulate.Gaussian{}, fmt.Errorf("d = %d: a random network needs at least 3 nodes", d)
	}
	a := mat.NewSymDense(d, nil)
	edges := 0
	for edges == 0 || edges == d*(d-1)/2 {
		edges = 0
		for j := range d {
			for k := j + 1; k < d; k++ {
				joined := 0.
				if rng.Float64() < min(neighbours/float64(d-1), 0.5) {
					joined = math.Copysign(1, rng.Float64()-0.5)
					edges++
				}
				a.SetSym(j, k, joined)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, false) {
		return simulate.Gaussian{}, fmt.Errorf("the eigenvalues of a network of %d nodes did not converge", d)
	}
	p := mat.NewSymDense(d, nil)
	p.ScaleSym(0.8/math.Abs(eigen.Values(nil)[0]), a)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

const cutOff = 0.2 // share of a column below its bound

// simulate makes a replicate's distribution, its support, nil for all of R^d, and a table.
func (k kind) simulate(law gaps.Law, seed uint64) (truth simulate.Gaussian, support *domain.Domain, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if k.Graph == "star" {
		truth, err = simulate.Star(k.Columns, rng)
	} else {
		truth, err = Random(k.Columns, rng)
	}
	if err != nil {
		return truth, nil, nil, err
	}
	if k.Below > 0 {
		if support, err = truth.TruncateBelow(k.Below, cutOff); err != nil {
			return truth, nil, nil, err
		}
	}
	if t, err = truth.SampleInside(support, k.Rows, rng); err != nil {
		return truth, nil, nil, err
	}
	t, err = law.Hide(t, seed)
	return truth, support, t, err
}
