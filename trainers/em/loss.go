package em

import (
	"missingscore/graph"
	"missingscore/internal/simd"
)

// manyPairs is the share of elements that are not 0 from which on a product by a library is
// sooner done than one by these elements.
const manyPairs = 0.1

// loss is ψ summed over rows (docs/theory/complete-data.md#eq-em-exact), with the matrix of
// their moments [A Sᵀ; S M], (d+1, d+1), about the mean and P (d, d):
//
//	−2A tr P + tr(PMP)
func loss(p, moments []float64, d int) (sum float64, err error) {
	second, pm, elements := make([]float64, d*d), make([]float64, d*d), 0
	for j := range d {
		copy(second[j*d:j*d+d], moments[(j+1)*(d+1)+1:(j+2)*(d+1)])
	}
	for _, v := range p {
		if v != 0 {
			elements++
		}
	}
	if float64(elements) > manyPairs*float64(d*d) {
		multiply, err := graph.NewProduct()
		if err != nil {
			return 0, err
		}
		multiply(false, false, d, d, d, p, second, pm)
	} else {
		for j := range d {
			for k, v := range p[j*d : j*d+d] {
				if v != 0 {
					simd.Axpy(pm[j*d:j*d+d], v, second[k*d:k*d+d])
				}
			}
		}
	}
	for j := range d {
		sum += simd.Dot(pm[j*d:j*d+d], p[j*d:j*d+d]) - 2*moments[0]*p[j*d+j]
	}
	return sum, nil
}
