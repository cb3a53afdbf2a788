// Package simulate draws tables from known distributions: the paper's and others.
package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
)

// Gaussian is a true distribution N(Mean, Precision⁻¹), of shapes (d) and (d, d).
type Gaussian struct {
	Mean      []float64
	Precision *mat.SymDense
}

// Sample draws a complete table of n rows with the columns x1 … xd. It fails if the precision is
// not positive definite or n is below 2.
func (g Gaussian) Sample(n int, rng *rand.Rand) (*data.Table, error) {
	d := len(g.Mean)
	normal, err := g.normal(rng)
	if err != nil {
		return nil, err
	}
	values := make([]float64, max(0, n)*d)
	for i := range n {
		normal.Rand(values[i*d : (i+1)*d])
	}
	return sample(d, values)
}

func sample(d int, values []float64) (*data.Table, error) {
	if n := len(values) / d; n < 2 {
		return nil, fmt.Errorf("a sample of %d rows: at least 2 are needed", n)
	}
	names := make([]string, d)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	return data.NewTable(names, values, nil)
}

// Normal draws the distribution of the paper's experiment "Normal distribution estimation"
// (appendix, implementation details), before truncation. The mean is 1/2. The first d−1 columns
// have covariance
//
//	S = Q diag(v) Qᵀ,   v_i ~ U[0.5, 1.5],   Q uniform on the orthogonal matrices
//
// and the last is X_d = X_1/2 + Z/2 with Z independent, E Z = 1/2, Var Z = Var X_1, hence
//
//	P = [S⁻¹ 0; 0 0] + (4/S_11) u uᵀ,   u = (−1/2, 0, …, 0, 1)
//
// It fails for d < 3.
func Normal(d int, rng *rand.Rand) (Gaussian, error) {
	if d < 3 {
		return Gaussian{}, fmt.Errorf("d = %d: the normal experiment needs at least 3 columns", d)
	}
	p := mat.NewSymDense(d, nil)
	inverse := p.SliceSym(0, d-1).(*mat.SymDense) // the block S⁻¹ of p
	q := orthogonal(d-1, rng)
	variance := 0.0 // S_11
	for i := range d - 1 {
		eigenvalue := 0.5 + rng.Float64()
		inverse.SymRankOne(inverse, 1/eigenvalue, q.ColView(i))
		variance += eigenvalue * q.At(0, i) * q.At(0, i)
	}
	u := mat.NewVecDense(d, nil)
	u.SetVec(0, -0.5)
	u.SetVec(d-1, 1)
	p.SymRankOne(p, 4/variance, u)

	mean := make([]float64, d)
	for j := range mean {
		mean[j] = 0.5
	}
	return Gaussian{Mean: mean, Precision: p}, nil
}

// orthogonal draws Q (m, m) uniformly: the Q of a Gaussian matrix's QR decomposition times the
// signs of R's diagonal (Mezzadri 2007, "How to generate random matrices from the classical compact groups").
func orthogonal(m int, rng *rand.Rand) *mat.Dense {
	g := mat.NewDense(m, m, nil)
	g.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, g)
	var qr mat.QR
	qr.Factorize(g)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	q.Apply(func(i, j int, x float64) float64 { return x * math.Copysign(1, r.At(j, j)) }, &q)
	return &q
}

// TruncateBelow returns the domain of the paper's truncated normal experiment: each of the first
// columns above its quantile of this share (paper: 3 columns, 0.1).
func (g Gaussian) TruncateBelow(columns int, share float64) (*domain.Domain, error) {
	normal, err := g.normal(nil)
	if err != nil {
		return nil, err
	}
	var sigma mat.SymDense
	normal.CovarianceMatrix(&sigma)
	s := domain.All(len(g.Mean))
	for j := range min(columns, len(g.Mean)) {
		s.Lower[j] = g.Mean[j] + math.Sqrt(sigma.At(j, j))*distuv.UnitNormal.Quantile(share)
	}
	return s, nil
}

// TruncateAcross returns the domain of the paper's truncated star experiment: aᵀx ≤ b with uniform
// direction a, and this share of the distribution outside (paper: 0.2).
func (g Gaussian) TruncateAcross(share float64, rng *rand.Rand) (*domain.Domain, error) {
	normal, err := g.normal(nil)
	if err != nil {
		return nil, err
	}
	var sigma mat.SymDense
	normal.CovarianceMatrix(&sigma)
	a := make([]float64, len(g.Mean))
	for j := range a {
		a[j] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(a, 2), a)
	v := mat.NewVecDense(len(a), a)
	s := domain.All(len(a))
	s.Half = []domain.HalfSpace{{A: a, B: floats.Dot(a, g.Mean) + math.Sqrt(mat.Inner(v, &sigma, v))*distuv.UnitNormal.Quantile(1-share)}}
	return s, nil
}

func (g Gaussian) normal(rng *rand.Rand) (*distmv.Normal, error) {
	if normal, ok := distmv.NewNormalPrecision(g.Mean, g.Precision, rng); ok {
		return normal, nil
	}
	return nil, fmt.Errorf("the precision is not positive definite")
}

// SampleInside samples by rejection. It fails if fewer than one draw in 10000 lies inside.
func (g Gaussian) SampleInside(s *domain.Domain, n int, rng *rand.Rand) (*data.Table, error) {
	if !s.Bounded() {
		return g.Sample(n, rng)
	}
	d := len(g.Mean)
	var values []float64
	for tried := 0; len(values) < n*d; tried += n {
		t, err := g.Sample(n, rng)
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(t.Values) && len(values) < n*d; i += d {
			if row := t.Values[i : i+d]; s.Contains(row) {
				values = append(values, row...)
			}
		}
		if tried > 10000 && len(values)*10000 < tried*d {
			return nil, fmt.Errorf("fewer than one draw in 10000 lies inside the domain: widen it")
		}
	}
	return sample(d, values)
}
