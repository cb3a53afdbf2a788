package network

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Predictability is the share of each node's variance that all others explain, of a normal
// distribution with precision P = Σ⁻¹ (Haslbeck & Waldorp 2018, doi:10.3758/s13428-017-0910-x;
// docs/theory/centrality.md#eq-predictability):
//
//	R²_j = 1 − Var(x_j | others)/Var(x_j) = 1 − 1/(P_jj Σ_jj).
//
// It is without units, between 0 and 1. It fails if P is not positive definite.
func Predictability(p mat.Symmetric) ([]float64, error) {
	var factors mat.Cholesky
	if !factors.Factorize(p) {
		return nil, fmt.Errorf("network: the precision is not positive definite, so that no share of variance can be told")
	}
	var covariance mat.SymDense
	if err := factors.InverseTo(&covariance); err != nil {
		return nil, fmt.Errorf("network: shares of variance: %w", err)
	}
	out := make([]float64, p.SymmetricDim())
	for j := range out {
		out[j] = max(0, 1-1/(p.At(j, j)*covariance.At(j, j))) // rounding may leave less than 0
	}
	return out, nil
}
