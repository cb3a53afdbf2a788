package inference

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/data/network"
)

// Pairs returns Normal for all pairs j < k; without common rows (together is 0) or partial (nil)
// there is no interval.
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

// Beyond warns of estimates without an interval because |r| ≥ 1.
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

// Normal returns the uncertainty of a partial correlation with estimate r and standard error se, by
// Fisher's z = atanh r with standard error se/(1 − r²) (Fisher 1921):
//
//	interval tanh(z ± u se_z),  p = 2 Φ(−|z|/se_z),  u the quantile (1 + level)/2 of N(0, 1)
//
// If |r| ≥ 1 or a value is not finite, only the estimate is set; Q is unset.
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

// BenjaminiHochberg returns the q values of p values. For the m sorted p values,
//
//	q_(i) = min over k ≥ i of p_(k) m/k
//
// (Benjamini and Hochberg 1995). NaN p values do not count in m and have q NaN.
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
	for above, i := range order { // descending order of p
		least = min(least, p[i]*m/(m-float64(above)))
		q[i] = least
	}
	return q
}
