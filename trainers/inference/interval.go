package inference

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/network"
)

// Pairs are the uncertainties of all pairs of nodes j < k by Normal. Nothing is known of a pair that no row has (together
// is 0), nor of any where partial is nil.
func Pairs(together []int, partial, se []float64, level float64) (out []network.Uncertainty) {
	for i, rows := range together {
		if partial == nil || rows == 0 {
			out = append(out, network.Unknown(rows))
			continue
		}
		out = append(out, Normal(partial[i], se[i], level, rows))
	}
	return out
}

// Beyond warns of estimates that have no interval, being 1 or more in size; nothing where
// there are none.
func Beyond(partial []float64) []string {
	beyond := 0
	for _, v := range partial {
		if !(math.Abs(v) < 1) {
			beyond++
		}
	}
	if beyond == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d pairs have no interval: their partial correlations reach 1", beyond, len(partial))}
}

// Normal is the uncertainty of a partial correlation whose estimate r is about normal with
// standard error se, by Fisher's z = atanh r, whose standard error is se/(1 − r²):
//
//	interval tanh(z ± u se_z),  p = 2 Φ(−|z|/se_z),  u the quantile (1 + level)/2 of N(0, 1)
//
// so that it stays within (−1, 1) (Fisher 1921). Q is left to BenjaminiHochberg. An
// estimate of size 1 or more, or that is not finite, has nothing but itself.
func Normal(r, se, level float64, rows int) network.Uncertainty {
	out := network.Unknown(rows)
	out.Estimate, out.SE = r, se
	if !(math.Abs(r) < 1) || !(se > 0) || math.IsInf(se, 1) {
		return out
	}
	z, spread := math.Atanh(r), se/(1-r*r)
	u := distuv.UnitNormal.Quantile((1 + level) / 2)
	out.Low, out.High = math.Tanh(z-u*spread), math.Tanh(z+u*spread)
	out.P = 2 * distuv.UnitNormal.CDF(-math.Abs(z)/spread)
	return out
}

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
