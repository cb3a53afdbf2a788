package path

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers of the authors' algorithm as R's stabs 0.6-4 has it (function D of helpers.R,
// run in R 4.2.2 with optimize to tol = 1e-12; its uniroot finds a to 1e-12): q edges of p pairs, threshold τ, B halvings,
// D(θ², 2τ − 1, B, −1/2) and D(θ, τ, 2B, −1/4).
func TestTailBounds(t *testing.T) {
	for _, c := range []struct {
		q, p  float64
		t     int // 2Bτ
		b     int
		pairs float64
		whole float64
	}{
		{19, 190, 75, 50, 2.86031064229e-03, 6.52707491351e-03},
		{19, 190, 90, 50, 7.55306036375e-04, 2.04440535543e-03},
		{19, 190, 60, 50, 0.0114133943555, 0.0148616238514},
		{10, 45, 75, 50, 0.0181426177817, 0.0421469289806},
		{3, 190, 90, 50, 1.58191081675e-05, 2.23465921212e-05},
		{60, 190, 90, 50, 0.0123661438653, 0.0340184285066},
		{40, 1225, 75, 50, 2.66767124568e-04, 4.30052453785e-04},
		{5, 28, 32, 20, 0.00912662735725, 0.02158890100350},
	} {
		theta := c.q / c.p
		require.InEpsilon(t, c.pairs, tailBound(theta*theta, c.t-c.b, c.b, -1./2), 1e-4)
		require.InEpsilon(t, c.whole, tailBound(theta, c.t, 2*c.b, -1./4), 1e-4)
	}
	require.Less(t, tailBound(0.1, 11, 50, -1./2), 5./11, "Markov's, at the least t that a falling curve has a tail beyond")
	require.Equal(t, 1., tailBound(0.1, 10, 50, -1./2))
	require.Equal(t, 1., tailBound(0.4, 70, 100, -1./4), "Markov's inequality has no more to say")
}
