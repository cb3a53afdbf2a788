package nets_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func values(m *nets.NormalImputer) (out []float64) {
	for _, p := range m.Params() {
		out = append(out, p.Value...)
	}
	return out
}

func TestImputerShapesAndSeeds(t *testing.T) {
	for _, c := range []struct {
		options nets.NormalOptions
		numbers int
	}{
		{nets.NormalOptions{}, 3*200 + 200 + 200*200 + 200 + 200*3 + 3 + 1}, // the paper's: d→200→200→d and one σ
		{nets.NormalOptions{Hidden: 5}, 3*5 + 5 + 25 + 5 + 15 + 3 + 1},
		{nets.NormalOptions{Hidden: 5, MaskInput: true}, 6*5 + 5 + 25 + 5 + 15 + 3 + 1},
		{nets.NormalOptions{Hidden: 5, DiagonalSD: true}, 3*5 + 5 + 25 + 5 + 15 + 3 + 3},
	} {
		m := nets.NewNormalImputer(3, c.options, stream.New(1, 1))
		require.Len(t, values(m), c.numbers)
		require.Equal(t, values(m), values(nets.NewNormalImputer(3, c.options, stream.New(1, 1))))
		require.NotEqual(t, values(m), values(nets.NewNormalImputer(3, c.options, stream.New(2, 1))))
		require.Equal(t, 1.0, m.Deviation(2), "σ starts at 1")
	}
	m := nets.NewNormalImputer(3, nets.NormalOptions{}, stream.New(1, 1))
	second := m.Params()[2].Value // U(−1/√200, 1/√200): nothing outside, and its variance
	bound := 1 / math.Sqrt(200)
	require.LessOrEqual(t, slices.Max(second), bound)
	require.GreaterOrEqual(t, slices.Min(second), -bound)
	square := 0.0
	for _, v := range second {
		square += v * v / float64(len(second))
	}
	// the variance of U² is 4b⁴/45
	require.InDelta(t, bound*bound/3, square, 4*math.Sqrt(4./45/40000)*bound*bound)
}

// The network against loops.
func TestImputerMean(t *testing.T) {
	const d, n = 3, 2
	for _, o := range []nets.NormalOptions{{Hidden: 4}, {Hidden: 4, MaskInput: true}} {
		m := nets.NewNormalImputer(d, o, stream.New(3, 3))
		x := []float64{0.5, 0, -1, 0, 2, 0.3}
		mask := []float64{1, 0, 1, 0, 1, 1}
		p, err := graph.Build(func(b *graph.Builder) {
			b.Output("mean", m.Mean(b, nets.ImputerRows{X: b.Input("x", n, d), Mask: b.Input("mask", n, d)}))
		})
		require.NoError(t, err)
		copy(p.Input("x"), x)
		copy(p.Input("mask"), mask)
		require.NoError(t, p.Run())
		for i := range n {
			h := append([]float64(nil), x[i*d:i*d+d]...)
			if o.MaskInput {
				h = append(h, mask[i*d:i*d+d]...)
			}
			h = layers(m, h)
			require.InDeltaSlice(t, h, p.Output("mean")[i*d:i*d+d], 1e-13)
		}
	}
	_, err := graph.Build(func(b *graph.Builder) {
		m := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 4}, stream.New(3, 3))
		b.Output("mean", m.Mean(b, nets.ImputerRows{X: b.Input("x", n, 5), Mask: b.Input("mask", n, 5)}))
	})
	require.ErrorContains(t, err, "an imputer for 3 columns got rows of 5")
}

// layers are those of the network, at one row.
func layers(m *nets.NormalImputer, h []float64) []float64 {
	for l := range 3 {
		w, bias := m.Params()[2*l], m.Params()[2*l+1]
		next := append([]float64(nil), bias.Value...)
		for a, v := range h {
			for c := range next {
				next[c] += v * w.Value[a*w.Cols+c]
			}
		}
		for c := range next {
			if l < 2 {
				next[c] = math.Max(next[c], 0)
			}
		}
		h = next
	}
	return h
}

// A noise-conditional imputer works in units of the row's size: with row, signal and noise
// all k times as large, mean and deviation are too.
func TestNoiseConditionalImputerScales(t *testing.T) {
	const d, k = 3, 2.5
	m := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 5, NoiseConditional: true, MaskInput: true}, stream.New(4, 4))
	m.Slope.Value[0], m.Slope.Value[1] = 0.3, -0.2
	p, err := graph.Build(func(b *graph.Builder) {
		signal, noise := b.Input("signal", 1, 1), b.Input("noise", 1, 1)
		b.Output("mean", m.Mean(b, nets.ImputerRows{X: b.Input("x", 1, d), Mask: b.Input("mask", 1, d), Signal: signal, Noise: noise}))
		b.Output("log sd", m.LevelLogDeviation(b, signal, noise))
	})
	require.NoError(t, err)
	at := func(k, noise float64) (mean []float64, logSD float64) {
		for j, v := range []float64{0.7, 0, -1.2} {
			p.Input("x")[j], p.Input("mask")[j] = k*v, 1
		}
		p.Input("mask")[1] = 0
		p.Input("signal")[0], p.Input("noise")[0] = k*0.8, k*noise
		require.NoError(t, p.Run())
		return append(mean, p.Output("mean")...), p.Output("log sd")[0]
	}
	mean, logSD := at(1, 0.5)
	scaled, scaledSD := at(k, 0.5)
	for j := range mean {
		require.InDelta(t, k*mean[j], scaled[j], 1e-12)
	}
	require.InDelta(t, logSD+math.Log(k), scaledSD, 1e-12)
	other, _ := at(1, 0.05)
	require.NotEqual(t, mean, other, "the level is not told")
}
