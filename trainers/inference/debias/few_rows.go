package debias

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// forFewRows widens standard errors, which hold for many rows, as Fisher (1924) found it of
// partial correlations (docs/theory/inference.md#eq-few-rows). With s = se/(1 − ρ²), that of
// z = atanh ρ,
//
//	s² → s² / (1 − (k + 3) s²)
//
// where k columns are neighbours of either of the pair in the network p that the step starts
// from, and were fitted with it. Errors by the rows at the estimate itself (twice) are widened
// so twice, for there the rows' gradients, too, are smaller than at the truth, to which they were
// not fitted. A pair that the rows tell of no more than k + 3 complete rows would has no standard
// error; how many have none.
func (e *Estimate) forFewRows(p mat.Symmetric, twice bool) (without int) {
	d := p.SymmetricDim()
	pair := 0
	for j := range d {
		for k := j + 1; k < d; k++ {
			rho := e.Partial[pair]
			s := e.SE[pair] / (1 - rho*rho)
			left := 1 - float64(neighbours(p, j, k)+3)*s*s
			if left <= 0 {
				left = math.NaN()
				without++
			}
			if twice {
				left *= left
			}
			e.SE[pair] /= math.Sqrt(left)
			pair++
		}
	}
	return without
}

// neighbours are how many columns have an edge with column j or k, without these two.
func neighbours(p mat.Symmetric, j, k int) (count int) {
	for l := range p.SymmetricDim() {
		if l != j && l != k && (p.At(j, l) != 0 || p.At(k, l) != 0) {
			count++
		}
	}
	return count
}
