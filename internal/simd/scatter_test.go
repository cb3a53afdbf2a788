package simd

import (
	"math/rand/v2"
	"slices"
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
	for i := range 140 {
		d := min(i, 139-i) // what is left of a longer row is none of a shorter one
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
			for j := range 8 * len(g.bits) {
				require.Equal(t, slices.Contains(places, j), g.bits[j/8]>>(j%8)&1 == 1, "column %d of %d", j, d)
			}
			require.Equal(t, len(places), len(g.At()))
			if len(places) > 0 {
				require.Equal(t, places, g.At())
			}
			row, mean, sd := numbers[T](rng, d, 0), numbers[T](rng, d, 0), numbers[T](rng, d, 0)
			rows := 1 + d%4
			z := numbers[T](rng, rows*len(places)+Spare, 0)
			all := make([]T, rows*d+20)
			for j := range all {
				all[j] = 7
			}
			want := make([]T, rows*d)
			Scatter(all[:rows*d], row, mean, sd, z, &g)
			scatter(want, row, mean, sd, z, &g)
			require.Equal(t, want, all[:rows*d])
			for i := range rows {
				for k, j := range places {
					require.Equal(t, mean[j]+T(sd[j]*z[i*len(places)+k]), want[i*d+j])
				}
			}
			for _, v := range all[rows*d:] {
				require.Equal(t, T(7), v, "nothing is written behind the rows")
			}
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d, r = 100, 10
	mask := make([]float64, d)
	for j := range mask {
		mask[j] = float64(rng.IntN(2))
	}
	var g Gaps
	g.Set(mask)
	out, z := make([]float32, r*d), make([]float32, r*d+Spare)
	row, mean, sd := make([]float32, d), make([]float32, d), make([]float32, d)
	b.Run("vectors", func(b *testing.B) {
		for b.Loop() {
			Scatter(out, row, mean, sd, z, &g)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			scatter(out, row, mean, sd, z, &g)
		}
	})
	b.Run("gaps", func(b *testing.B) {
		for b.Loop() {
			g.Set(mask)
		}
	})
	b.Run("gaps, plain", func(b *testing.B) {
		for b.Loop() {
			setGaps(g.at[:cap(g.at)], g.bits, mask)
		}
	})
}
