package path

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/trainers/engine"
)

// secondMoments are Σ_i x_ij x_ik over rows with both observed, their number,
// and the means v_j of x_j².
func secondMoments(p engine.Problem) (cross, count *mat.SymDense, v []float64) {
	sums, d := p.PairSums(), p.Table.D
	cross, count, v = mat.NewSymDense(d, sums.Cross), mat.NewSymDense(d, sums.Number), make([]float64, d)
	for j := range v {
		v[j] = cross.At(j, j) / count.At(j, j)
	}
	return cross, count, v
}

// pairMoments are means of products over the rows that have both columns, 0 where none has.
func pairMoments(cross, count *mat.SymDense) *mat.SymDense {
	d := cross.SymmetricDim()
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			if n := count.At(j, k); n > 0 {
				s.SetSym(j, k, cross.At(j, k)/n)
			}
		}
	}
	return s
}

// stableRate is a step below the stability limit 2/L of gradient descent. The
// loss of complete rows has curvature L ≤ 4 λ_max(S) by packed P, S the second
// moments, here from pairs.
func stableRate(p engine.Problem) float64 {
	cross, count, _ := secondMoments(p)
	s := pairMoments(cross, count)
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return math.Inf(1)
	}
	return 1 / (4 * e.Values(nil)[p.Table.D-1])
}
