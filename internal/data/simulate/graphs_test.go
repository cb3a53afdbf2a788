package simulate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

func TestGraph(t *testing.T) {
	for _, c := range []struct {
		shape    string
		d, edges int
		want     int
		strength float64
	}{{"random", 12, 20, 20, 0.25}, {"random", 4, 6, 6, 0.25}, {"hub", 25, 0, 22, 0.25}, {"chain", 12, 0, 11, 0.25}, {"star", 12, 0, 11, 0.25}, {"star", 50, 0, 49, 0.9 / 7}} {
		g, err := Graph(c.shape, c.d, c.edges, 0, stream.New(3))
		require.NoError(t, err)
		edges, positive := 0, 0
		for j := range c.d {
			require.Equal(t, 1.0, g.Precision.At(j, j))
			for k := j + 1; k < c.d; k++ {
				if r := -g.Precision.At(j, k); r != 0 {
					require.InDelta(t, c.strength, math.Abs(r), 1e-12, "%s %d", c.shape, c.d)
					edges++
					if r > 0 {
						positive++
					}
				}
			}
		}
		require.Equal(t, c.want, edges, c.shape)
		require.Greater(t, positive, 0)
		require.Less(t, positive, edges)
		var chol mat.Cholesky
		require.True(t, chol.Factorize(g.Precision))
	}
	g, err := Graph("hub", 25, 0, 0.3, stream.New(3))
	require.NoError(t, err)
	require.Equal(t, 0.3, math.Abs(g.Precision.At(20, 24)))
	require.Zero(t, g.Precision.At(0, 10))
}

// A star's P is positive definite for r < 1/√(d − 1).
func TestGraphErrors(t *testing.T) {
	_, err := Graph("star", 17, 0, 0.25, stream.New(1))
	require.ErrorContains(t, err, "they must be positive and less than 0.25")
	_, err = Graph("star", 17, 0, 0.2499, stream.New(1))
	require.NoError(t, err)
	for _, c := range []struct {
		shape    string
		d, edges int
		strength float64
	}{{"ring", 5, 0, 0}, {"random", 5, 11, 0}, {"random", 5, 0, 0}, {"chain", 1, 0, 0}, {"chain", 5, 0, -0.1}} {
		_, err := Graph(c.shape, c.d, c.edges, c.strength, stream.New(1))
		require.Error(t, err, c)
	}
}
