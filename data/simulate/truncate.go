package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
)

// TruncateBelow is the domain of the paper's truncated normal experiment: the
// first columns above their quantile of this share (paper: 3 columns, 0.1). It
// fails if the precision is not positive definite.
func (g Gaussian) TruncateBelow(columns int, share float64) (*domain.Domain, error) {
	sigma, err := g.covariance()
	if err != nil {
		return nil, err
	}
	s := domain.All(len(g.Mean))
	for j := range min(columns, len(g.Mean)) {
		s.Lower[j] = g.Mean[j] + math.Sqrt(sigma.At(j, j))*distuv.UnitNormal.Quantile(share)
	}
	return s, nil
}

// TruncateAcross is the domain of the paper's truncated star experiment: a half-
// space aᵀx ≤ b with a of length 1 and uniform direction, b such that this share of
// the distribution lies outside (paper: 0.2).
func (g Gaussian) TruncateAcross(share float64, rng *rand.Rand) (*domain.Domain, error) {
	sigma, err := g.covariance()
	if err != nil {
		return nil, err
	}
	a := make([]float64, len(g.Mean))
	for j := range a {
		a[j] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(a, 2), a)
	v := mat.NewVecDense(len(a), a)
	s := domain.All(len(a))
	s.Half = []domain.HalfSpace{{A: a, B: floats.Dot(a, g.Mean) + math.Sqrt(mat.Inner(v, sigma, v))*distuv.UnitNormal.Quantile(1-share)}}
	return s, nil
}

func (g Gaussian) covariance() (*mat.SymDense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(g.Precision) {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	var sigma mat.SymDense
	if err := chol.InverseTo(&sigma); err != nil {
		return nil, fmt.Errorf("the precision is nearly singular: %w", err)
	}
	return &sigma, nil
}

// SampleInside is Sample restricted to a domain, by rejection: exact. It fails if
// fewer than one draw in 10000 lies inside.
func (g Gaussian) SampleInside(s *domain.Domain, n int, rng *rand.Rand) (*data.Table, error) {
	if !s.Bounded() {
		return g.Sample(n, rng)
	}
	if n < 2 {
		return nil, fmt.Errorf("a sample of %d rows: at least 2 are needed", n)
	}
	d := len(g.Mean)
	var names []string
	var values []float64
	for tried := 0; len(values) < n*d; tried += n {
		t, err := g.Sample(n, rng)
		if err != nil {
			return nil, err
		}
		names = t.Names
		for i := 0; i < len(t.Values) && len(values) < n*d; i += d {
			if row := t.Values[i : i+d]; s.Contains(row) {
				values = append(values, row...)
			}
		}
		if tried > 10000 && len(values)*10000 < tried*d {
			return nil, fmt.Errorf("fewer than one draw in 10000 lies inside the domain: widen it")
		}
	}
	return data.NewTable(names, values, nil)
}
