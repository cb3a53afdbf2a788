package nets

import (
	"math"
	"math/rand/v2"

	"missingscore/graph"
)

// uniformFanIn fills p with U(−1/√n, 1/√n), n the number of inputs of the
// layer: LeCun's rule, and what PyTorch's Linear starts from.
func uniformFanIn(p *graph.Param, n int, rng *rand.Rand) {
	bound := 1 / math.Sqrt(float64(n))
	for i := range p.Value {
		p.Value[i] = bound * (2*rng.Float64() - 1)
	}
}
