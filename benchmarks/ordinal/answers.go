package ordinal

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// items of a questionnaire.
const items = 10

// truths draw the correlations (items, items) of the numbers behind the answers.
var truths = map[string]func(rng *rand.Rand) (*mat.SymDense, error){
	"factors": func(*rand.Rand) (*mat.SymDense, error) { return factors(), nil },
	"sparse":  sparse,
}

// loadings of the items on their factor.
var loadings = []float64{0.8, 0.7, 0.7, 0.6, 0.6, 0.8, 0.7, 0.7, 0.6, 0.6}

// betweenFactors is the correlation of the two factors.
const betweenFactors = 0.4

// factors are two, of five items each: every partial correlation is other than 0.
func factors() *mat.SymDense {
	r := mat.NewSymDense(items, nil)
	for j, a := range loadings {
		for k, b := range loadings[j:] {
			switch k += j; {
			case j == k:
				r.SetSym(j, k, 1)
			case 2*j/items == 2*k/items:
				r.SetSym(j, k, a*b)
			default:
				r.SetSym(j, k, betweenFactors*a*b)
			}
		}
	}
	return r
}

// sparse is a random network with three neighbours of a node on average.
func sparse(rng *rand.Rand) (*mat.SymDense, error) {
	g, err := graphs.Random(items, rng)
	if err != nil {
		return nil, err
	}
	r, err := inverse(g.Precision)
	if err != nil {
		return nil, err
	}
	unit := make([]float64, items)
	for j := range unit {
		unit[j] = 1 / math.Sqrt(r.At(j, j))
	}
	for j := range items {
		for k := j; k < items; k++ {
			r.SetSym(j, k, r.At(j, k)*unit[j]*unit[k])
		}
	}
	return r, nil
}

// inverse of a positive definite matrix.
func inverse(m *mat.SymDense) (*mat.SymDense, error) {
	var c mat.Cholesky
	if !c.Factorize(m) {
		return nil, mat.ErrNotPSD
	}
	out := &mat.SymDense{}
	return out, c.InverseTo(out)
}

// answers draws n rows of answers 1, 2, … to the items, complete, and the true precision.
func (s settings) answers(truth string, n int, seed uint64) (precision *mat.SymDense, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	r, err := truths[truth](rng)
	if err != nil {
		return nil, nil, err
	}
	if precision, err = inverse(r); err != nil {
		return nil, nil, err
	}
	if t, err = (simulate.Gaussian{Mean: make([]float64, items), Precision: precision}).Sample(n, rng); err != nil {
		return nil, nil, err
	}
	for k, z := range t.Values {
		t.Values[k] = float64(1 + sort.SearchFloat64s(s.Thresholds, z))
	}
	t, err = data.NewTable(t.Names, t.Values, nil)
	return precision, t, err
}
