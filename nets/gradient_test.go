package nets_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Gradients of draws and of their log density, by all parameters, against differences.
func TestGradientsOfImputers(t *testing.T) {
	const n, d = 4, 3
	for kind, options := range map[string]string{
		"normal":  `{"hidden":5,"mask_input":true,"diagonal_sd":true}`,
		"linear":  `{"hidden":5}`,
		"mixture": `{"hidden":5,"components":3}`,
	} {
		m, err := nets.NewImputer(kind, d, []byte(options), stream.New(2, 1))
		require.NoError(t, err)
		far(m, 7)
		rng := stream.New(8, 1)
		p, err := graph.Build(func(b *graph.Builder) {
			mask := b.Input("mask", n, d)
			s := m.Draw(b, nets.ImputerRows{X: b.Input("x", n, d), Mask: mask}, b.Input("noise", n, d))
			missing := b.GroupRepeat(b.Map(graph.Complement, mask), s.K)
			x := b.Prod(missing, s.X)
			weights := make([]float64, n*s.K*d)
			for i := range weights {
				weights[i] = rng.NormFloat64()
			}
			loss := b.Add(b.Sum(b.Prod(b.Constant(n*s.K, d, weights), x)), b.Sum(b.Map(graph.Square, s.LogDensity)))
			if s.LogWeight != nil {
				loss = b.Add(loss, b.Sum(b.Map(graph.Square, s.LogWeight)))
			}
			b.Minimise(loss, m.Params()...)
		})
		require.NoError(t, err)
		copy(p.Input("mask"), []float64{1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0})
		for i := range n * d {
			p.Input("x")[i], p.Input("noise")[i] = p.Input("mask")[i]*rng.NormFloat64(), rng.NormFloat64()
		}
		diff, err := gradcheck.Params(p, m.Params(), gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Loss(), err })
		require.NoError(t, err)
		require.Less(t, diff.Error, 1e-7, fmt.Sprint(kind, diff))
	}
}
