package nets_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func byReLU(params []*graph.Param, x []float64) []float64 {
	for l := 0; l < len(params); l += 2 {
		weight, bias := params[l], params[l+1]
		y := make([]float64, weight.Cols)
		for j := range y {
			y[j] = bias.Value[j]
			for i, v := range x {
				y[j] += v * weight.Value[i*weight.Cols+j]
			}
			if l+2 < len(params) {
				y[j] = math.Max(y[j], 0)
			}
		}
		x = y
	}
	return x
}

func named(t *testing.T, params []*graph.Param) []*graph.Param {
	t.Helper()
	require.Len(t, params, 6)
	for l, p := range params {
		require.Equal(t, fmt.Sprintf("%s %d", []string{"weight", "bias"}[l%2], l/2+1), p.Name)
	}
	return params
}

func TestLinearCorrection(t *testing.T) {
	const d = 3
	m := nets.NewLinearImputer(d, nets.LinearOptions{Hidden: 6}, stream.New(3, 1))
	layers := named(t, m.Params()[2:])
	p := drawn(t, m, 1, d)
	copy(p.Input("x"), []float64{0.4, 0, -1.1})
	copy(p.Input("mask"), []float64{1, 0, 1})
	require.NoError(t, p.Run())
	before := p.Output("draw")[1]
	low, high := 0., 0.
	rng := stream.New(5, 1)
	for range 20 {
		for _, q := range layers[4:] {
			for i := range q.Value {
				q.Value[i] = rng.NormFloat64()
			}
		}
		require.NoError(t, p.Run())
		want := byReLU(layers, []float64{0.4, 0, -1.1, 1, 0, 1})[1]
		require.InDelta(t, want, p.Output("draw")[1]-before, 1e-12)
		low, high = min(low, want), max(high, want)
	}
	require.Less(t, low, -0.1)
	require.Greater(t, high, 0.1)
}

// The mean of the noise-conditional imputer, c f(x/c, mask, log(σ/a)/4) with c = √(a² + σ²).
func TestNoiseConditionalMean(t *testing.T) {
	const d, signal, noise = 2, 0.8, 2.5
	m := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 6, NoiseConditional: true, MaskInput: true}, stream.New(4, 4))
	layers := named(t, m.Params()[:6])
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("mean", m.Mean(b, nets.ImputerRows{X: b.Input("x", 1, d), Mask: b.Input("mask", 1, d), Signal: b.Input("signal", 1, 1), Noise: b.Input("noise", 1, 1)}))
	})
	require.NoError(t, err)
	copy(p.Input("x"), []float64{1.3, 0})
	copy(p.Input("mask"), []float64{1, 0})
	p.Input("signal")[0], p.Input("noise")[0] = signal, noise
	require.NoError(t, p.Run())
	c := math.Sqrt(signal*signal + noise*noise)
	for j, v := range byReLU(layers, []float64{1.3 / c, 0, 1, 0, math.Log(noise/signal) / 4}) {
		require.InDelta(t, c*v, p.Output("mean")[j], 1e-12)
	}
}

func TestLevelsOfRows(t *testing.T) {
	const n, d = 3, 2
	m, err := nets.NewScoreNetwork(d, nets.NetworkOptions{Hidden: []int{4}, NoiseConditional: true}, stream.New(6, 1))
	require.NoError(t, err)
	scores := func(x, signal, noise []float64) []float64 {
		p, err := graph.Build(func(b *graph.Builder) {
			at := m.(model.NoiseConditional).AtNoise(b.Input("signal", len(signal), 1), b.Input("noise", len(noise), 1))
			b.Output("score", at.Evaluate(b, b.Input("x", len(signal), d)).Score)
		})
		require.NoError(t, err)
		copy(p.Input("x"), x)
		copy(p.Input("signal"), signal)
		copy(p.Input("noise"), noise)
		require.NoError(t, p.Run())
		return slices.Clone(p.Output("score"))
	}
	x, signal, noise := []float64{0.3, -1, 1.4, 0.2, -0.7, 0.9}, []float64{1, 0.6, 0.1}, []float64{0.02, 0.5, 2}
	together := scores(x, signal, noise)
	for i := range n {
		require.InDeltaSlice(t, scores(x[i*d:i*d+d], signal[i:i+1], noise[i:i+1]), together[i*d:i*d+d], 1e-12)
	}
}
