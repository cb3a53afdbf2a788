package graph

import "missingscore/internal/data/truncnorm"

// Transport is truncnorm.Transport elementwise, differentiable in z, α and β (n, d). Infinite
// bounds are ±truncnorm.Unbounded. Φ⁻¹ and Φ as two operations would lose all digits in the tails.
func Transport(b *Builder, z, alpha, beta Node) Node {
	slopes := func(v []float64) [3]float64 {
		byZ, byAlpha, byBeta := truncnorm.Slopes(v[3], v[0], v[1], v[2])
		return [3]float64{byZ, byAlpha, byBeta}
	}
	return zip(b, "transport", func(v []float64) float64 { return truncnorm.Transport(v[0], v[1], v[2]) },
		func(t, g Node) (by []Node) {
			for k := range 3 {
				by = append(by, b.Prod(g, zip(b, "transport'", func(v []float64) float64 { return slopes(v)[k] }, nil, z, alpha, beta, t)))
			}
			return by
		}, z, alpha, beta)
}

// LogMass is log(Φ(β) − Φ(α)) elementwise, differentiable in both (n, d).
func LogMass(b *Builder, alpha, beta Node) Node {
	slopes := func(v []float64) [2]float64 {
		byAlpha, byBeta := truncnorm.MassSlopes(v[0], v[1])
		return [2]float64{byAlpha, byBeta}
	}
	return zip(b, "logmass", func(v []float64) float64 { return truncnorm.LogMass(v[0], v[1]) },
		func(_, g Node) (by []Node) {
			for k := range 2 {
				by = append(by, b.Prod(g, zip(b, "logmass'", func(v []float64) float64 { return slopes(v)[k] }, nil, alpha, beta)))
			}
			return by
		}, alpha, beta)
}

// zip is f of each element of the inputs, which have one shape.
func zip(b *Builder, name string, f func(v []float64) float64, reverse func(out, g Node) []Node, in ...Node) Node {
	r, c := shape(in[0])
	for _, n := range in {
		need(b, name, n, r, c)
	}
	v := make([]float64, len(in))
	return b.Apply(Op{Name: name, Rows: r, Cols: c, Reverse: reverse,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range out {
				for k, x := range in {
					v[k] = x[i]
				}
				out[i] = f(v)
			}
			return nil
		}}, in...)
}
