package simd

import "math"

func seen(x, mask, values []float64, observed []bool) {
	one := math.Float64bits(1)
	for j, o := range observed {
		// Bits, for 0·NaN is NaN and a branch on random gaps costs ten times as much.
		keep := uint64(0)
		if o {
			keep = 1
		}
		x[j] = math.Float64frombits(math.Float64bits(values[j]) & -keep)
		mask[j] = math.Float64frombits(one & -keep)
	}
}
