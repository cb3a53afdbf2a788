package simulate

import (
	"math"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Mixture is the distribution Σ_k w_k N(mean_k, diag(deviation_k²)) on R^d.
type Mixture struct {
	Weights    []float64   // (K): positive, normalised by their sum
	Means      [][]float64 // (K, d)
	Deviations [][]float64 // (K, d): positive
}

// Draw returns n rows (n, d).
func (m Mixture) Draw(n int, rng *rand.Rand) []float64 {
	x := make([]float64, 0, n*len(m.Means[0]))
	for range n {
		k := stream.Pick(rng, m.Weights)
		for j, mean := range m.Means[k] {
			x = append(x, mean+m.Deviations[k][j]*rng.NormFloat64())
		}
	}
	return x
}

// Sample draws a complete table with the columns x1 … xd.
func (m Mixture) Sample(n int, rng *rand.Rand) (*data.Table, error) {
	return sample(len(m.Means[0]), m.Draw(n, rng))
}

// Moons is two interleaved half circles of radius 1, about (0, 0) and (1, ½), as scikit-learn's
// make_moons: 40 equal normals of standard deviation 0.1.
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

// Ring is a circle of radius 1 about 0 in the plane: 40 equal normals of standard deviation 0.1.
func Ring() Mixture {
	const components = 40
	var m Mixture
	for k := range components {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / components)
		m.add(0.1, cos, sin)
	}
	return m
}

// Curve is a closed curve in d columns, as 200 equal normals of standard deviation 0.2:
//
//	(cos θ, sin θ, cos 2θ, sin 2θ, …, cos ⌈d/2⌉θ, …),  0 ≤ θ < 2π
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

// Modes draws a mixture of k equal normals of standard deviation ½ with means N(0, 1) in each of d columns.
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

func (m *Mixture) add(deviation float64, mean ...float64) {
	deviations := make([]float64, len(mean))
	for j := range deviations {
		deviations[j] = deviation
	}
	m.Weights = append(m.Weights, 1)
	m.Means = append(m.Means, mean)
	m.Deviations = append(m.Deviations, deviations)
}
