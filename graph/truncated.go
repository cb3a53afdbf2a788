package graph

import "missingscore/internal/data/truncnorm"

// Transport is truncnorm.Transport elementwise, differentiable in z, α and β (n, d). Infinite
// bounds are ±truncnorm.Unbounded. Φ⁻¹ and Φ as two operations would lose all digits in the tails.
func Transport(b *Builder, z, alpha, beta Node) Node {
	b.same("transport", z, alpha)
	r, c := b.same("transport", z, beta)
	return b.Apply(Op{Name: "transport", Rows: r, Cols: c,
		Kernel: func(out []float64, in [][]float64) error {
			for i, z := range in[0] {
				out[i] = truncnorm.Transport(z, in[1][i], in[2][i])
			}
			return nil
		},
		Reverse: func(t, g Node) []Node {
			slope := func(name string, pick func(byZ, byAlpha, byBeta float64) float64) Node {
				return b.Prod(g, b.Apply(Op{Name: name, Rows: r, Cols: c,
					Kernel: func(out []float64, in [][]float64) error {
						for i, t := range in[0] {
							out[i] = pick(truncnorm.Slopes(t, in[1][i], in[2][i], in[3][i]))
						}
						return nil
					}}, t, z, alpha, beta))
			}
			return []Node{
				slope("transport'z", func(byZ, _, _ float64) float64 { return byZ }),
				slope("transport'alpha", func(_, byAlpha, _ float64) float64 { return byAlpha }),
				slope("transport'beta", func(_, _, byBeta float64) float64 { return byBeta }),
			}
		}}, z, alpha, beta)
}

// LogMass is log(Φ(β) − Φ(α)) elementwise, differentiable in both (n, d).
func LogMass(b *Builder, alpha, beta Node) Node {
	r, c := b.same("log mass", alpha, beta)
	return b.Apply(Op{Name: "logmass", Rows: r, Cols: c,
		Kernel: func(out []float64, in [][]float64) error {
			for i, alpha := range in[0] {
				out[i] = truncnorm.LogMass(alpha, in[1][i])
			}
			return nil
		},
		Reverse: func(_, g Node) []Node {
			slope := func(name string, pick func(byAlpha, byBeta float64) float64) Node {
				return b.Prod(g, b.Apply(Op{Name: name, Rows: r, Cols: c,
					Kernel: func(out []float64, in [][]float64) error {
						for i, alpha := range in[0] {
							out[i] = pick(truncnorm.MassSlopes(alpha, in[1][i]))
						}
						return nil
					}}, alpha, beta))
			}
			return []Node{
				slope("logmass'alpha", func(byAlpha, _ float64) float64 { return byAlpha }),
				slope("logmass'beta", func(_, byBeta float64) float64 { return byBeta }),
			}
		}}, alpha, beta)
}
