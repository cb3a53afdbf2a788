package nets

import (
	"math"

	"missingscore/graph"
)

// levelOf is what a network is told of a row's level of noise, x(t) = a x + σ ε with
// standardised x: the row's size c = √(a² + σ²), which it is divided by, and ℓ = log(σ/a)/4
// (Karras et al. 2022). Both (n, 1).
func levelOf(b *graph.Builder, signal, noise graph.Node) (size, level graph.Node) {
	size = b.Map(root, b.Add(b.Square(signal), b.Square(noise)))
	level = b.Scale(0.25, b.Sub(b.Map(logarithm, noise), b.Map(logarithm, signal)))
	return size, level
}

// Levels are constants of a program: these have no derivatives.
var (
	root       = &graph.Function{Name: "root", F: math.Sqrt}
	logarithm  = &graph.Function{Name: "log", F: math.Log}
	reciprocal = &graph.Function{Name: "reciprocal", F: func(x float64) float64 { return 1 / x }}
)
