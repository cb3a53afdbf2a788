package regpath

import (
	"math"
	"slices"
)

// chiMedian is the median of χ² with one degree of freedom.
const chiMedian = 0.4549364231195724

// strengths returns the absolute partial correlations r_jk of a pilot of d columns, in the order of
// network.Adjacency, shrunk by the average strength of their columns' pairs (empirical Bayes):
//
//	|r_jk| v_jk / (v_jk + σ²),   v_jk = max(m − σ² + B (a_j + a_k), σ²/10)
//
// m + a_j + a_k with Σ a_j = 0 is the least-squares fit to r_jk², B = max(0, 1 − 1/F) with F its F
// statistic, and σ² the smaller of 1/rows and the median of r_jk² over that of χ²₁; rows is the
// mean number of common rows of a pair. If B = 0 or d < 5 they are |r_jk|
// (docs/theory/penalties.md#eq-strengths).
func strengths(pilot []float64, d int, rows float64) []float64 {
	r := sizes(pilot, d)
	if d < 5 {
		return r
	}
	m, a := 0.0, make([]float64, d)
	eachPair(d, func(i, j, k int) {
		m += r[i] * r[i] / float64(len(r))
		a[j] += r[i] * r[i]
		a[k] += r[i] * r[i]
	})
	between, within := 0.0, 0.0
	for j := range a {
		a[j] = (a[j] - float64(d-1)*m) / float64(d-2)
		between += a[j] * a[j] * float64(d-2) / float64(d-1)
	}
	eachPair(d, func(i, j, k int) {
		within += math.Pow(r[i]*r[i]-m-a[j]-a[k], 2) / float64(len(r)-d)
	})
	b, noise := 1-within/between, min(1/rows, math.Pow(median(r), 2)/chiMedian)
	if !(b > 0 && noise > 0) {
		return r
	}
	eachPair(d, func(i, j, k int) {
		v := max(m-noise+b*(a[j]+a[k]), noise/10)
		r[i] *= v / (v + noise)
	})
	return r
}

// eachPair visits the pairs j < k of d columns, number i in the order of network.Adjacency.
func eachPair(d int, visit func(i, j, k int)) {
	for j, i := 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			visit(i, j, k)
		}
	}
}

// median needs at least one number.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
