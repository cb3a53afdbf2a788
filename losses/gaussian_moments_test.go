package losses

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

// Moments do not depend on what was asked for before: another η after the same P, where Σ has
// been made for rows that go by their observed block, gives the bytes of a first run. (Once it
// was solved by Σ then, and by the factor in a first run, and resumed runs were not to the byte
// those that were never cut.)
func TestMomentsDoNotDependOnTheRunBefore(t *testing.T) {
	const d, n = 4, 12
	rng := rand.New(rand.NewPCG(5, 5))
	numbers := func(n int) (x []float64) {
		for range n {
			x = append(x, rng.NormFloat64())
		}
		return x
	}
	p, first, second, x := sparse(d, 3, rng), numbers(d), numbers(d), numbers(n*d)
	mask, weight := make([]float64, n*d), make([]float64, n)
	for i := range weight {
		weight[i] = 1
		mask[i*d+i%d] = 1 // three of four are missing: the observed block is the smaller one
		for j := range d {
			x[i*d+j] *= mask[i*d+j]
		}
	}
	product, err := graph.NewProduct()
	require.NoError(t, err)
	run := func(etas ...[]float64) *gaussianMoments {
		c := newGaussianMoments(d, product)
		for _, eta := range etas {
			require.NoError(t, c.collect(eta, p, x, mask, weight))
		}
		require.True(t, c.inverted)
		return c
	}
	again, once := run(first, second), run(second)
	require.Equal(t, once.mu, again.mu)
	require.Equal(t, once.sum, again.sum)
	require.Equal(t, once.second, again.second)
	require.Equal(t, once.logLikelihood, again.logLikelihood)
}
