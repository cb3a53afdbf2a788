package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestElementary(t *testing.T) {
	elementaryIs(t, 8e-16, func(most float64) float64 { return most * 706 })
	elementaryIs(t, 4e-7, func(most float64) float32 { return float32(most * 86) })
}

func elementaryIs[T Float](t *testing.T, most float64, at func(float64) T) {
	var z []T
	for i := -20000; i <= 20000; i++ { // closer together about 0
		v := float64(i) / 20000
		z = append(z, at(v*v*v))
	}
	s, p := make([]T, len(z)), make([]T, len(z))
	for from, n := 0, 0; from < len(z); from, n = from+n, (n+1)%17 {
		to := min(from+n, len(z))
		Sigmoid(s[from:to], z[from:to])
		Softplus(p[from:to], z[from:to], s[from:to])
	}
	for i, v := range z {
		x := float64(v)
		require.InEpsilon(t, 1/(1+math.Exp(-x)), float64(s[i]), most, x)
		require.InEpsilon(t, max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))), float64(p[i]), 2*most, x)
	}
	far := []T{T(math.Inf(-1)), T(math.Inf(1)), T(math.NaN()), -800, 800}
	Sigmoid(s[:5], far)
	Softplus(p[:5], far, s[:5])
	require.InDeltaSlice(t, []float64{0, 1, 0, 1}, []float64{float64(s[0]), float64(s[1]), float64(s[3]), float64(s[4])}, 1e-37)
	require.True(t, math.IsInf(float64(p[1]), 1) && p[4] == 800 && math.Abs(float64(p[0])) < 1e-37)
	require.True(t, math.IsNaN(float64(s[2])) && math.IsNaN(float64(p[2])))
}
