package em

import "gonum.org/v1/gonum/floats"

// Known are the mean and the covariances, (d, d), of rows without a gap: what any expectation
// step over them comes to.
type Known struct{ Mean, Covariances []float64 }

// loss is ψ at (μ, P), packed, mean over rows (docs/theory/complete-data.md#eq-em-exact):
//
//	ψ = −2 tr P + tr(PMP),   M = S + (x̄ − μ)(x̄ − μ)ᵀ
func (k *Known) loss(x []float64) (sum float64) {
	d := len(k.Mean)
	p, away := unpacked(x[d:], d), floats.SubTo(make([]float64, d), k.Mean, x[:d])
	pm := make([]float64, d)
	for j := range d {
		row := p[j*d : j*d+d]
		clear(pm)
		for l, v := range row {
			if v != 0 {
				floats.AddScaled(pm, v, k.Covariances[l*d:l*d+d])
			}
		}
		out := floats.Dot(row, away)
		sum += floats.Dot(pm, row) + out*out - 2*row[j]
	}
	return sum
}
