// Package simulate draws tables from known distributions: the paper's and others.
package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/data"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// Gaussian is a true distribution N(Mean, Precision⁻¹), of shapes (d) and (d, d).
type Gaussian struct {
	Mean      []float64
	Precision *mat.SymDense
}

// Sample draws a complete table of n rows with the columns x1 … xd. It fails if
// the shapes differ, the precision is not positive definite or n is below 2.
func (g Gaussian) Sample(n int, rng *rand.Rand) (*data.Table, error) {
	d := len(g.Mean)
	if d == 0 || g.Precision.SymmetricDim() != d {
		return nil, fmt.Errorf("a mean of length %d and a precision of size %d make no Gaussian", d, g.Precision.SymmetricDim())
	}
	if n < 2 {
		return nil, fmt.Errorf("a sample of %d rows: at least 2 are needed", n)
	}
	normal, ok := distmv.NewNormalPrecision(g.Mean, g.Precision, rng)
	if !ok {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	names := make([]string, d)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	values := make([]float64, n*d)
	for i := range n {
		normal.Rand(values[i*d : (i+1)*d])
	}
	return data.NewTable(names, values, nil)
}

// Normal draws the distribution of the paper's experiment "Normal
// distribution estimation" (appendix, implementation details), before the
// truncation. The mean is 1/2 in every column. The first d−1 have covariance
//
//	S = Q diag(v) Qᵀ,   v_i ~ U[0.5, 1.5],   Q uniform on the orthogonal matrices
//
// and the last is X_d = X_1/2 + Z/2 with Z independent, E Z = 1/2, Var Z = Var X_1.
// Given the others X_d has variance S_11/4 and depends on X_1 only, hence
//
//	P = [S⁻¹ 0; 0 0] + (4/S_11) u uᵀ,   u = (−1/2, 0, …, 0, 1)
//
// with exact zeros P_jd for 1 < j < d. It fails for d < 3.
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

// orthogonal draws Q (m, m) uniformly. The Q of a Gaussian matrix's QR is uniform
// only after its columns take the signs of R's diagonal (Mezzadri 2007, "How to
// generate random matrices from the classical compact groups").
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
