package path

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// secondMoments are Σ_i x_ij x_ik over rows with both observed, their number,
// and the means v_j of x_j².
func secondMoments(t *data.Table) (cross, count *mat.SymDense, v []float64) {
	d := t.D
	sums, counts, v := make([]float64, d*d), make([]float64, d*d), make([]float64, d)
	for i := range t.N {
		row, seen, once := t.Values[i*d:(i+1)*d], t.Observed[i*d:(i+1)*d], t.Weight(i)
		for j, x := range row {
			if !seen[j] {
				continue
			}
			own, n := sums[j*d:(j+1)*d], counts[j*d:(j+1)*d]
			for k := j; k < d; k++ {
				if seen[k] {
					own[k] += once * x * row[k]
					n[k] += once
				}
			}
		}
	}
	cross, count = mat.NewSymDense(d, sums), mat.NewSymDense(d, counts) // of which the upper triangle is read
	for j := range v {
		v[j] = cross.At(j, j) / count.At(j, j)
	}
	return cross, count, v
}

// stableRate is a step below the stability limit 2/L of gradient descent. The
// loss of complete rows has curvature L ≤ 4 λ_max(S) by packed P, S the second
// moments, here from pairs.
func stableRate(t *data.Table) float64 {
	cross, count, _ := secondMoments(t)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			if n := count.At(j, k); n > 0 {
				cross.SetSym(j, k, cross.At(j, k)/n)
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(cross, false) {
		return math.Inf(1)
	}
	return 1 / (4 * e.Values(nil)[t.D-1])
}
