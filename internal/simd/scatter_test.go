package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScatterEqualsThePlainOne(t *testing.T) {
	t.Run("float64", scattered[float64])
	t.Run("float32", scattered[float32])
}

func scattered[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var g Gaps
	for d := range 70 {
		for _, missing := range []float64{0, 0.3, 0.5, 1} {
			mask := make([]float64, d)
			var places []int
			for j := range mask {
				if rng.Float64() >= missing {
					mask[j] = 1
				} else {
					places = append(places, j)
				}
			}
			g.Set(mask)
			require.Equal(t, len(places), len(g.At()))
			if len(places) > 0 {
				require.Equal(t, places, g.At())
			}
			row, mean, sd := numbers[T](rng, d, 0), numbers[T](rng, d, 0), numbers[T](rng, d, 0)
			z := numbers[T](rng, len(places)+Spare, 0)
			all := make([]T, d+20)
			for j := range all {
				all[j] = 7
			}
			want := make([]T, d)
			Scatter(all[:d], row, mean, sd, z, &g)
			scatter(want, row, mean, sd, z, &g)
			require.Equal(t, want, all[:d])
			for k, j := range places {
				require.Equal(t, mean[j]+T(sd[j]*z[k]), want[j])
			}
			for _, v := range all[d:] {
				require.Equal(t, T(7), v, "nothing is written behind the row")
			}
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	mask := make([]float64, 100)
	for j := range mask {
		mask[j] = float64(rng.IntN(2))
	}
	var g Gaps
	g.Set(mask)
	x := make([][]float32, 5)
	for k := range x {
		x[k] = make([]float32, 116)
	}
	b.Run("vectors", func(b *testing.B) {
		for b.Loop() {
			Scatter(x[0][:100], x[1], x[2], x[3], x[4], &g)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			scatter(x[0][:100], x[1], x[2], x[3], x[4], &g)
		}
	})
}
