package inference

import (
	"cmp"
	"math"
	"slices"
)

// BenjaminiHochberg are the q values of p values: with them in increasing order,
//
//	q_(i) = min over k ≥ i of p_(k) m/k
//
// m their number. Taking those with q ≤ α for edges keeps the false discovery rate at α or
// less where the p values of pairs without an edge are independent or positively dependent
// (Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001). A p value that is NaN is
// none of the m and has the q value NaN.
func BenjaminiHochberg(p []float64) []float64 {
	q := make([]float64, len(p))
	var order []int
	for i, v := range p {
		if q[i] = math.NaN(); !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[j], p[i]) })
	m, least := float64(len(order)), 1.0
	for above, i := range order { // the largest first
		least = min(least, p[i]*m/(m-float64(above)))
		q[i] = least
	}
	return q
}

// correct fills in the q values of pairs.
func (r *Result) correct() {
	p := make([]float64, len(r.Pairs))
	for i, u := range r.Pairs {
		p[i] = u.P
	}
	for i, q := range BenjaminiHochberg(p) {
		r.Pairs[i].Q = q
	}
}
