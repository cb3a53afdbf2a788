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
			require.InDeltaSlice(t, byReLU(m.Params()[:6], h), p.Output("mean")[i*d:i*d+d], 1e-13)
		}
	}
}
