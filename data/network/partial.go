package network

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Precision is a symmetric matrix.
type Precision interface{ At(j, k int) float64 }

// PartialCorrelation of columns j and k is −P_jk / √(P_jj P_kk), NaN where a diagonal element is
// negative. The product of the two may be beyond float64.
func PartialCorrelation(p Precision, j, k int) float64 {
	return 0 - p.At(j, k)/math.Sqrt(p.At(j, j))/math.Sqrt(p.At(k, k)) // not −0
}

// PartialCorrelations are those of all pairs j < k: (0,1), (0,2), …
func PartialCorrelations(p mat.Symmetric) []float64 {
	d := p.SymmetricDim()
	out := make([]float64, 0, d*(d-1)/2)
	for j := range d {
		for k := j + 1; k < d; k++ {
			out = append(out, PartialCorrelation(p, j, k))
		}
	}
	return out
}
