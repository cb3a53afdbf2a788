package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Groups of every size, with numbers far below the largest: the plain loop's results to the bit, and
// the definition in float64.
func TestGroupSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	for r := 1; r < 40; r++ {
		for _, n := range []int{1, 2, 9, 20} {
			x := numbers[float32](rng, n*r, 0.1)
			for i := range x {
				x[i] = 20*x[i] - float32(200*rng.IntN(2))
			}
			all, want := numbers[float32](rng, n*r+20, 0), make([]float32, n*r)
			behind := append([]float32{}, all[n*r:]...)
			GroupSoftmax(all[:n*r], x, r)
			groupSoftmax(want, x, r, leastSoftmax32, Exp32)
			require.Equal(t, want, all[:n*r], "%d groups of %d", n, r)
			require.Equal(t, behind, all[n*r:], "nothing is written behind the result")
			for i := 0; i < n*r; i += r {
				sum, top := 0.0, math.Inf(-1)
				for _, v := range x[i : i+r] {
					top = max(top, float64(v))
				}
				for _, v := range x[i : i+r] {
					sum += math.Exp(float64(v) - top)
				}
				for k, v := range x[i : i+r] {
					require.InDelta(t, math.Exp(float64(v)-top)/sum, all[i+k], 1e-6, "%d groups of %d", n, r)
				}
			}
		}
	}
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1))} { // what is no number stays none
		for at := range 3 {
			x, out := make([]float32, 11), make([]float32, 11)
			x[5*at] = v
			GroupSoftmax(out, x, 11)
			require.True(t, math.IsNaN(float64(out[5*at])))
		}
	}
}

func BenchmarkGroupSoftmax(b *testing.B) {
	x, out := numbers[float32](rand.New(rand.NewPCG(9, 2)), 400, 0), make([]float32, 400)
	b.Run("vectors", func(b *testing.B) {
		for b.Loop() {
			GroupSoftmax(out, x, 10)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			groupSoftmax(out, x, 10, leastSoftmax32, Exp32)
		}
	})
}
