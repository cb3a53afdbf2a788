package calibration

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// priorLaw is a mixture of normals whose parameters are of the prior in
// docs/theory/sampling.md#eq-posterior, drawn here without package posterior.
type priorLaw struct {
	weights []float64
	means   [][]float64
	factors []*mat.TriDense // C of each precision P = CCᵀ
}

// newPriorLaw draws one. A precision is
//
//	P = CCᵀ,   C = (νΔ)^(−½) A,   A lower triangular, A_jj² ~ χ²(ν − j), A_jk ~ N(0, 1)
//
// (Bartlett 1933), so that C⁻ᵀz, z standard normal, has the covariance P⁻¹.
func newPriorLaw(components int, rng *rand.Rand) (l priorLaw) {
	nu := columns + 1 + math.Ldexp(0.5, rng.IntN(12)) // ½, 1, 2, …, 1024
	var delta []float64
	for len(delta) < columns {
		if v := (distuv.Gamma{Alpha: 0.5, Beta: 0.5, Src: rng}).Rand(); v > 0.001 {
			delta = append(delta, v)
		}
	}
	sum := 0.0
	for range components {
		c := mat.NewTriDense(columns, mat.Lower, nil)
		for j := range columns {
			size := 1 / math.Sqrt(nu*delta[j])
			for k := range j {
				c.SetTri(j, k, size*rng.NormFloat64())
			}
			c.SetTri(j, j, size*math.Sqrt(distuv.ChiSquared{K: nu - float64(j), Src: rng}.Rand()))
		}
		mean := normal(c, rng)
		for j := range mean {
			mean[j] /= math.Sqrt(0.05) // κ
		}
		w := distuv.Gamma{Alpha: 1 / float64(components), Beta: 1, Src: rng}.Rand()
		l.factors, l.means, l.weights = append(l.factors, c), append(l.means, mean), append(l.weights, w)
		sum += w
	}
	for k := range l.weights {
		l.weights[k] /= sum
	}
	return l
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
