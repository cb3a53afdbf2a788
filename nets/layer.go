package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
)

// layer is an affine map, weight (in, out) and bias (1, out).
type layer struct{ weight, bias *graph.Param }

func newLayer(params *[]*graph.Param, weight, bias string, in, out int, rng *rand.Rand) layer {
	l := layer{graph.NewParam(weight, in, out), graph.NewParam(bias, 1, out)}
	uniformFanIn(l.weight, in, rng)
	uniformFanIn(l.bias, in, rng)
	*params = append(*params, l.weight, l.bias)
	return l
}

// newLayers makes a network's layers between widths.
func newLayers(params *[]*graph.Param, widths []int, rng *rand.Rand) (layers []layer) {
	for l, out := range widths[1:] {
		weight, bias := fmt.Sprintf("weight %d", l+1), fmt.Sprintf("bias %d", l+1)
		layers = append(layers, newLayer(params, weight, bias, widths[l], out, rng))
	}
	return layers
}

// rectified adds the output of layers with rectifiers between them.
func rectified(b *graph.Builder, layers []layer, h graph.Node) graph.Node {
	for l, layer := range layers {
		if h = b.Affine(h, b.Param(layer.weight), b.Param(layer.bias)); l < len(layers)-1 {
			h = b.Map(graph.Rectifier, h)
		}
	}
	return h
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

func numbersOf(widths ...int) (sum int) {
	for l, in := range widths[:len(widths)-1] {
		sum += (in + 1) * widths[l+1]
	}
	return sum
}
