package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		values, observed := numbers[float64](rng, n, 0), make([]bool, n)
		var wantX, wantMask []float64
		for j := range observed {
			x, mask := 0.0, 0.0
			if observed[j] = rng.IntN(2) == 1; observed[j] {
				x, mask = values[j], 1
			} else {
				values[j] = math.NaN()
			}
			wantX, wantMask = append(wantX, x), append(wantMask, mask)
		}
		x, mask := make([]float64, n+1), make([]float64, n+1)
		x[n], mask[n] = 7, 7
		Seen(x, mask, values, observed)
		require.Equal(t, append(wantX, 7), x)
		require.Equal(t, append(wantMask, 7), mask)
	}
}
