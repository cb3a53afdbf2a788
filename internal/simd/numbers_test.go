package simd

import (
	"math"
	"math/rand/v2"
)

func numbers[T Float](rng *rand.Rand, n int, zeros float64) []T {
	x := make([]T, n, n+3)
	for i := range x {
		if rng.Float64() >= zeros {
			x[i] = T(rng.NormFloat64())
		}
	}
	return x
}

func epsilonOf[T Float]() float64 {
	if double[T]() {
		return math.Nextafter(1, 2) - 1
	}
	return float64(math.Nextafter32(1, 2) - 1)
}
