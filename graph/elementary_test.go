package graph

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestElementary(t *testing.T) {
	for name, f := range map[string]struct {
		single func(z float32) float32
		double func(z float64) float64
	}{
		"exp":  {exp32, math.Exp},
		"tanh": {tanh32, math.Tanh},
	} {
		worst, at := 0., float32(0)
		for i := -50_000; i <= 50_000; i++ {
			z := float32(i) / 50_000
			z *= 90 * z * z
			want := f.double(float64(z))
			if math.Abs(want) < 2e-38 || want > math.MaxFloat32 {
				continue // subnormal, or too large
			}
			if off := math.Abs(float64(f.single(z))-want) / math.Abs(want); off > worst {
				worst, at = off, z
			}
		}
		require.Less(t, worst, 3e-7, "%s at %v", name, at)
		nan := float32(math.NaN())
		require.True(t, math.IsNaN(float64(f.single(nan))), name)
	}
	require.Equal(t, []float32{0, 0, 1, float32(math.Inf(1))}, []float32{exp32(float32(math.Inf(-1))), exp32(-88), exp32(0), exp32(float32(math.Inf(1)))})
	require.Equal(t, []float32{-1, 1}, []float32{tanh32(-100), tanh32(float32(math.Inf(1)))})
}
