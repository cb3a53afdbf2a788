package simulate

import (
	"math"
	"math/rand/v2"
)

// Moons is two interleaved half circles of radius 1 in the plane, the upper
// about (0, 0) and the lower about (1, ½) as in scikit-learn's make_moons, each blurred
// along its arc: 40 equal normals of deviation 0.1.
func Moons() Mixture {
	const each = 20
	var m Mixture
	for k := range each {
		sin, cos := math.Sincos(math.Pi * (float64(k) + 0.5) / each)
		m.add(0.1, cos, sin)
		m.add(0.1, 1-cos, 0.5-sin)
	}
	return m
}

// Ring is a circle of radius 1 about 0 in the plane, blurred: 40 equal normals
// of deviation 0.1.
func Ring() Mixture {
	const components = 40
	var m Mixture
	for k := range components {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / components)
		m.add(0.1, cos, sin)
	}
	return m
}

// Modes draws a mixture of k equal normals of deviation ½ whose means are
// N(0, 1) in each of d columns: far apart where d is 10, and every column unimodal or
// nearly so.
func Modes(d, k int, rng *rand.Rand) Mixture {
	var m Mixture
	for range k {
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		m.add(0.5, mean...)
	}
	return m
}

// add puts in a component of weight 1.
func (m *Mixture) add(deviation float64, mean ...float64) {
	deviations := make([]float64, len(mean))
	for j := range deviations {
		deviations[j] = deviation
	}
	m.Weights = append(m.Weights, 1)
	m.Means = append(m.Means, mean)
	m.Deviations = append(m.Deviations, deviations)
}
