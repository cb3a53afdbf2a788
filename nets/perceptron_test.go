package nets_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func byLoops(m model.Model, x, e []float64) []float64 {
	params := map[string]*graph.Param{}
	for _, p := range m.Params() {
		params[p.Name] = p
	}
	times := func(x []float64, w *graph.Param, z []float64) {
		for i, v := range x {
			for k := range z {
				z[k] += v * w.Value[i*w.Cols+k]
			}
		}
	}
	z1 := append([]float64(nil), params["bias 1"].Value...)
	times(x, params["weight 1"], z1)
	if e != nil {
		times(e, params["level weight"], z1)
	}
	z2 := append([]float64(nil), params["bias 2"].Value...)
	softplus := func(z []float64) []float64 {
		for k, v := range z {
			z[k] = math.Log1p(math.Exp(v))
		}
		return z
	}
	times(softplus(z1), params["weight 2"], z2)
	softplus(z2)
	out := params["output weight"]
	f := make([]float64, out.Rows)
	if bias, ok := params["output bias"]; ok {
		copy(f, bias.Value)
	}
	for j := range f {
		for k, a := range z2 {
			f[j] += a * out.Value[j*out.Cols+k]
		}
	}
	return f
}

func TestNetworksAgainstLoops(t *testing.T) {
	const d = 2
	x := []float64{0.7, -1.3}
	signal, noise := 0.8, 0.5
	spread := signal*signal + noise*noise
	c := math.Log(noise/signal) / 4
	e := []float64{c, math.Sin(math.Pi * c), math.Cos(math.Pi * c), math.Sin(2 * math.Pi * c), math.Cos(2 * math.Pi * c)}
	y := []float64{x[0] / math.Sqrt(spread), x[1] / math.Sqrt(spread)}
	o := nets.NetworkOptions{Hidden: []int{4, 3}, Activation: "softplus"}
	noiseConditional := o
	noiseConditional.NoiseConditional, noiseConditional.Clean = true, nets.Level{Signal: signal, Noise: noise}

	plain := newEnergy(t, d, o)
	params := plain.Params()
	centre, logStiffness := params[len(params)-2].Value, params[len(params)-1].Value
	rng := stream.New(9, 9)
	var quadratic float64
	for j := range d {
		centre[j], logStiffness[j] = rng.NormFloat64(), rng.NormFloat64()
		gap := x[j] - centre[j]
		quadratic += math.Exp(logStiffness[j]) * gap * gap / 2
	}
	energy, network, conditional := newEnergy(t, d, noiseConditional), newScoreNetwork(t, d, o), newScoreNetwork(t, d, noiseConditional)
	p, err := graph.Build(func(b *graph.Builder) {
		x := b.Input("x", 1, d)
		b.Output("plain", plain.Evaluate(b, x).LogDensity)
		b.Output("energy", energy.Evaluate(b, x).LogDensity)
		b.Output("network", network.Evaluate(b, x).Score)
		b.Output("conditional", conditional.Evaluate(b, x).Score)
	})
	require.NoError(t, err)
	copy(p.Input("x"), x)
	require.NoError(t, p.Run())
	require.InDelta(t, byLoops(plain, x, nil)[0]-quadratic, p.Output("plain")[0], 1e-13)
	require.InDelta(t, signal/noise*byLoops(energy, y, e)[0]-(x[0]*x[0]+x[1]*x[1])/(2*spread), p.Output("energy")[0], 1e-13)
	for j := range d {
		require.InDelta(t, byLoops(network, x, nil)[j]-x[j], p.Output("network")[j], 1e-13)
		want := signal/(noise*math.Sqrt(spread))*byLoops(conditional, y, e)[j] - x[j]/spread
		require.InDelta(t, want, p.Output("conditional")[j], 1e-13)
	}
}
