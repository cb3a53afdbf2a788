package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// layer is an affine map, weight (in, out) and bias (1, out).
type layer struct{ weight, bias *graph.Param }

func newLayer(params *[]*graph.Param, name string, in, out int, rng *rand.Rand) layer {
	l := layer{graph.NewParam(name, in, out), graph.NewParam(name+" bias", 1, out)}
	uniformFanIn(l.weight, in, rng)
	uniformFanIn(l.bias, in, rng)
	*params = append(*params, l.weight, l.bias)
	return l
}

// uniformFanIn fills p with U(−1/√n, 1/√n), as PyTorch's Linear does.
func uniformFanIn(p *graph.Param, n int, rng *rand.Rand) {
	bound := 1 / math.Sqrt(float64(n))
	for i := range p.Value {
		p.Value[i] = bound * (2*rng.Float64() - 1)
	}
}

// MostUnits is the largest size of a hidden layer.
const MostUnits = 10000

func checkUnits(units int) error {
	if units < 0 || units > MostUnits {
		return fmt.Errorf("%d units: 1 to %d are possible", units, MostUnits)
	}
	return nil
}

func numbersOf(widths ...int) (sum float64) {
	for l, in := range widths[:len(widths)-1] {
		sum += float64(in+1) * float64(widths[l+1])
	}
	return sum
}

// checkImputer refuses parameters that exceed the memory limit before they are allocated.
func checkImputer(d, units int, parameters float64) error {
	return model.CheckSize(parameters, "an imputer of %d units for %d columns", units, d)
}
