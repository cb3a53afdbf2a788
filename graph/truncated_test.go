package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/truncnorm"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
)

// Both maps through parameters in all three places; values from truncnorm, whose
// own test has them from outside.
func TestTruncatedNormalOperations(t *testing.T) {
	const n = 5
	z, a, b := graph.NewParam("z", 1, n), graph.NewParam("a", 1, n), graph.NewParam("b", 1, n)
	copy(z.Value, []float64{0.3, -1, 2, 0.5, 0.1})
	copy(a.Value, []float64{-1, 0.5, -3, 9, -0.2})
	copy(b.Value, []float64{2, 1.5, -1, 12, 0.4})
	p, err := graph.Build(func(g *graph.Builder) {
		tr, mass := g.Transport(g.Param(z), g.Param(a), g.Param(b)), g.LogMass(g.Param(a), g.Param(b))
		g.Output("t", tr)
		g.Output("mass", mass)
		g.Minimise(g.Add(g.Sum(g.Square(tr)), g.Sum(g.Prod(mass, mass))), z, a, b)
	})
	require.NoError(t, err)
	diff, err := gradcheck.Params(p, []*graph.Param{z, a, b}, gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Loss(), err })
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-6, "%+v", diff)
	require.NoError(t, p.Run())
	for i := range n {
		require.Equal(t, truncnorm.Transport(z.Value[i], a.Value[i], b.Value[i]), p.Output("t")[i])
		require.Equal(t, truncnorm.LogMass(a.Value[i], b.Value[i]), p.Output("mass")[i])
	}
}
