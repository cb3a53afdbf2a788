package em

import "math"

// Ridge is, by Minimise, the minimisation step
//
//	P = ((1 − α) S + α diag S)⁻¹,   0 < α < 1,
//
// which shrinks correlations by the factor 1 − α towards none and leaves the columns'
// variances: linear shrinkage of covariances with unequal variances as its target (Schäfer
// & Strimmer 2005). By turns with the expectation step it gives dense pilot estimates
// (docs/theory/penalties.md#eq-ridge-em).
type Ridge struct{ Alpha float64 }

// Minimise is a Minimiser. It is not ok where a variance is 0.
func (r Ridge) Minimise(packed, s []float64) (ok bool) {
	d := int(math.Sqrt(float64(len(s))))
	shrunk := make([]float64, d*d)
	for j := range d {
		for k := range d {
			shrunk[j*d+k] = (1 - r.Alpha) * s[j*d+k]
		}
		shrunk[j*d+j] = s[j*d+j]
	}
	return Unpenalised(packed, shrunk)
}
