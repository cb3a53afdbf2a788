package networks

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
)

// threshold is the program's default, columns standardised.
const threshold = 0.002

// Columns standardised by scale.
func judge(truth simulate.Gaussian, scale data.Scale, e estimated) ([]string, error) {
	want := network.Threshold(truth.Precision, 1e-12)
	var rates []network.Rate
	best, least := 0.0, math.Inf(1)
	for _, p := range e.path {
		found := network.Threshold(p, threshold)
		rate, err := network.Compare(want, found)
		if err != nil {
			return nil, err
		}
		rates = append(rates, rate)
		best, least = max(best, network.F1(want, found)), min(least, distance(truth.Precision, scale.Precision(p)))
	}
	found := network.Threshold(e.chosen, threshold)
	p := scale.Precision(e.chosen)
	edge, other, signs := biases(truth.Precision, p)
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
	return []string{text(network.AUC(rates)), text(best), text(network.F1(want, found)), strconv.Itoa(found.Count()),
		text(distance(truth.Precision, p)), text(least), text(edge), text(other), text(signs)}, nil
}

// distance returns ‖Q − P‖ / ‖P‖, Frobenius norms.
func distance(p, q *mat.SymDense) float64 {
	var gap mat.Dense
	gap.Sub(q, p)
	return mat.Norm(&gap, 2) / mat.Norm(p, 2)
}

// biases returns the mean over the edges of p of sign(ρ)(ρ̂ − ρ), mean of |ρ̂| over its other
// pairs, and the share of wrong signs.
func biases(p, q mat.Symmetric) (edge, other, signs float64) {
	var edges, others float64
	for j := range p.SymmetricDim() {
		for k := range j {
			truth, found := network.PartialCorrelation(p, j, k), network.PartialCorrelation(q, j, k)
			if truth == 0 {
				others++
				other += math.Abs(found)
				continue
			}
			edges++
			edge += math.Copysign(1, truth) * (found - truth)
			if truth*found < 0 {
				signs++
			}
		}
	}
	return edge / edges, other / others, signs / edges
}
