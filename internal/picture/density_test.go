package picture

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDensity(t *testing.T) {
	p, err := Density([]float64{1, 0.1, 0.01}, []int{0, 1, 3}, 6, 0.1)
	require.NoError(t, err)
	require.Equal(t, 1.0, p.X.Norm(0.01))
	require.Equal(t, []float64{0, 3}, []float64{p.Y.Min, p.Y.Max})
	found := texts(leaves(t, p))
	for _, s := range []string{"edges (of 6 pairs)", "chosen λ = 0.1", "0", "1", "2", "3"} {
		require.Contains(t, found, s)
	}
}

func TestDensityOfOneLambdaWithoutEdges(t *testing.T) {
	p, err := Density([]float64{3}, []int{0}, 0, math.NaN())
	require.NoError(t, err)
	all := leaves(t, p)
	require.Equal(t, 1, dotsOf(all, svgBlue))
	require.Contains(t, texts(all), "1")
	require.NotContains(t, texts(all), "0.5")
}

func TestDensityErrors(t *testing.T) {
	_, err := Density([]float64{1}, nil, 3, 1)
	require.EqualError(t, err, "picture: 1 lambdas and 0 edge counts")
	_, err = Density([]float64{1}, []int{4}, 3, 1)
	require.EqualError(t, err, "picture: 4 edges of 3 pairs at lambda 1")
	_, err = Density([]float64{0}, []int{1}, 3, 1)
	require.ErrorContains(t, err, "lambda is 0")
	_, err = Density(nil, nil, 3, math.NaN())
	require.ErrorContains(t, err, "no lambda")
}
