package calibration

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/trainers/posterior"
)

// priorLaw is a mixture of normals whose parameters are of the prior in
// docs/theory/sampling.md#eq-posterior, drawn here without package posterior.
type priorLaw struct {
	weights []float64
	means   [][]float64
	factors []*mat.TriDense // C of each precision P = CCᵀ
}

// anchor is that of mixtures of the prior.
var anchor = posterior.Anchor{Mean: []float64{0.5, 0, -1}, Covariance: []float64{1, 0.6, 0.2, 0.6, 2, -0.3, 0.2, -0.3, 0.5}}

// newPriorLaw draws one. One normal has a uniform mean in the prior, and no rank depends on the
// mean, which is 0 here.
func newPriorLaw(components int, rng *rand.Rand) (l priorLaw) {
	freedom := columns + 1 + math.Ldexp(0.5, rng.IntN(12)) // ν = d + 1 + ½, 1, 2, …, 1024
	psi := mat.NewSymDense(columns, nil)
	sigma := mat.NewSymDense(columns, anchor.Covariance)
	gamma := func(shape, rate float64) float64 { return distuv.Gamma{Alpha: shape, Beta: rate, Src: rng}.Rand() }
	tau := 0.0
	if components == 1 {
		for j := range columns {
			v := 0.0
			for v <= 0.001 {
				v = gamma(0.5, 0.5)
			}
			psi.SetSym(j, j, v)
		}
	} else {
		tau = 1 / gamma(1, 1)
		for inside := false; !inside; {
			const lambda = columns + 2
			var scale mat.SymDense
			scale.ScaleSym(1/(lambda*gamma(0.5, 0.5)), sigma)
			psi.SymOuterK(1, bartlett(&scale, lambda, rng))
			inside = true
			for j := range columns {
				inside = inside && conditional(psi, j) > 1e-4*conditional(sigma, j)
			}
		}
	}
	var scale mat.SymDense
	scale.ScaleSym(freedom, psi)
	scale = inverse(&scale)
	sum := 0.0
	for range components {
		c := bartlett(&scale, freedom, rng)
		mean := make([]float64, columns)
		if components > 1 {
			p := inverse(sigma)
			copy(mean, anchor.Mean)
			floats.AddScaled(mean, math.Sqrt(tau), normal(cholesky(&p), rng))
		}
		w := gamma(1/float64(components), 1)
		l.factors, l.means, l.weights = append(l.factors, c), append(l.means, mean), append(l.weights, w)
		sum += w
	}
	for k := range l.weights {
		l.weights[k] /= sum
	}
	return l
}

// bartlett is C of W = CCᵀ ~ Wishart(freedom, LLᵀ) (Bartlett 1933):
//
//	C = LA,   A lower triangular, A_jj² ~ χ²(freedom − j), A_jk ~ N(0, 1)
func bartlett(scale *mat.SymDense, freedom float64, rng *rand.Rand) *mat.TriDense {
	a := mat.NewTriDense(columns, mat.Lower, nil)
	for j := range columns {
		for k := range j {
			a.SetTri(j, k, rng.NormFloat64())
		}
		a.SetTri(j, j, math.Sqrt(distuv.ChiSquared{K: freedom - float64(j), Src: rng}.Rand()))
	}
	a.MulTri(cholesky(scale), a)
	return a
}

// cholesky is L of A = LLᵀ.
func cholesky(a *mat.SymDense) *mat.TriDense {
	var c mat.Cholesky
	var l mat.TriDense
	c.Factorize(a)
	c.LTo(&l)
	return &l
}

func inverse(a *mat.SymDense) (b mat.SymDense) {
	var c mat.Cholesky
	c.Factorize(a)
	_ = c.InverseTo(&b) // of well conditioned matrices
	return b
}

// conditional is the variance of column j given the others.
func conditional(covariance *mat.SymDense, j int) float64 {
	p := inverse(covariance)
	return 1 / p.At(j, j)
}

// normal draws from N(0, (CCᵀ)⁻¹).
func normal(c *mat.TriDense, rng *rand.Rand) []float64 {
	z := blas64.Vector{N: columns, Inc: 1, Data: make([]float64, columns)}
	for j := range z.Data {
		z.Data[j] = rng.NormFloat64()
	}
	blas64.Trsv(blas.Trans, c.RawTriangular(), z)
	return z.Data
}

// rows are n of the law, (n, d).
func (l priorLaw) rows(n int, rng *rand.Rand) (values []float64) {
	for range n {
		k := pick(l.weights, rng)
		for j, v := range normal(l.factors[k], rng) {
			values = append(values, l.means[k][j]+v)
		}
	}
	return values
}
