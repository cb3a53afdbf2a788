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

// Curve is a closed curve in d columns,
//
//	(cos θ, sin θ, cos 2θ, sin 2θ, …, cos ⌈d/2⌉θ, …),  0 ≤ θ < 2π,
//
// blurred: 200 equal normals of deviation 0.2. Of each column every value stands for several
// places on the curve, of the m-th pair of columns for m.
func Curve(d int) Mixture {
	const components = 200
	var m Mixture
	for k := range components {
		mean := make([]float64, d)
		for j := range mean {
			sin, cos := math.Sincos(float64(j/2+1) * 2 * math.Pi * float64(k) / components)
			mean[j] = cos
			if j%2 == 1 {
				mean[j] = sin
			}
		}
		m.add(0.2, mean...)
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
