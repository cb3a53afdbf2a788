package path

import "math"

// crowd is by how many rows with both columns of a pair, on average, a column is to have one
// neighbour at the smallest λ: below it there is little to be known of its regression.
const crowd = 4

// crowdedRatio is that of the largest λ, top, to the smallest: lambdaRatio where there are few
// columns. With more than DenseColumns the path ends earlier, where about as many pairs'
// gradients at the network without edges, of size gradient, come above λ as make n̄/crowd
// neighbours of each column, n̄ the mean number of rows of a pair.
func crowdedRatio(d int, pairs float64, gradient func(j, k int) float64, top float64) float64 {
	if d <= DenseColumns {
		return lambdaRatio
	}
	const bins = 10_000 // of log λ
	counts := make([]float64, bins)
	for j := range d {
		for k := j + 1; k < d; k++ {
			below := math.Log(top / gradient(j, k))
			if bin := max(0, bins*below/math.Log(lambdaRatio)); bin < bins {
				counts[int(bin)]++
			}
		}
	}
	left := float64(d) * pairs / crowd / 2
	for bin, n := range counts {
		if left -= n; left < 0 {
			return math.Pow(lambdaRatio, float64(bin+1)/bins)
		}
	}
	return lambdaRatio
}
