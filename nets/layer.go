package nets

import (
	"math/rand/v2"

	"missingscore/graph"
)

// layer is an affine map, weight (in, out) and bias (1, out).
type layer struct{ weight, bias *graph.Param }

// newLayer is one whose parameters start as uniformFanIn does, and are among params from then on.
func newLayer(params *[]*graph.Param, name string, in, out int, rng *rand.Rand) layer {
	l := layer{graph.NewParam(name, in, out), graph.NewParam(name+" bias", 1, out)}
	uniformFanIn(l.weight, in, rng)
	uniformFanIn(l.bias, in, rng)
	*params = append(*params, l.weight, l.bias)
	return l
}
