package optim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/trainers/optim"
)

// n numbers are solved in n + 1 steps.
func TestAndersonSolvesLinearIterations(t *testing.T) {
	rates, fixed := []float64{0.999, 0.9, -0.5}, []float64{1, -2, 3}
	g := func(x []float64) []float64 {
		out := make([]float64, 3)
		for i, v := range x {
			out[i] = fixed[i] + rates[i]*(v-fixed[i]) + 0.01*(x[(i+1)%3]-fixed[(i+1)%3])
		}
		return out
	}
	a, x, plain := optim.Anderson{Memory: 3}, make([]float64, 3), make([]float64, 3)
	for range 5 {
		b := optim.Anderson{Memory: a.Memory, X: append([][]float64(nil), a.X...), G: append([][]float64(nil), a.G...)}
		next := a.Next(x, g(x))
		require.Equal(t, next, b.Next(x, g(x)))
		x, plain = next, g(plain)
	}
	require.InDeltaSlice(t, fixed, x, 1e-8)
	require.Greater(t, floats.Distance(fixed, plain, 2), 0.5)
	require.LessOrEqual(t, len(a.X), 4)
	a.Forget()
	require.Equal(t, g(plain), a.Next(plain, g(plain)))
	none := optim.Anderson{}
	require.Equal(t, g(plain), none.Next(plain, g(plain)))
}
