package tables

// Threshold is the paper's semi-automatic choice of the size |P_jk| from which on an
// entry is an edge (appendix "Real World Data"): the smallest threshold at which the
// networks of a path are smooth, in that
//
//	Jumpiness(densities(t)) ≤ level
//
// with the paper's level, 0.01 for many columns and 0.05 for few. It is found "by
// iterative shrinking grid search": the first of so many points, evenly spaced from 0
// (not included) to largest, at which the path is smooth; then the same between it
// and the point before, and so on for so many rounds. At largest, the largest |P_jk|
// of the path, no network has an edge and the path is smooth. Jumpiness need not fall
// with t, so a lower threshold may be missed between two points.
//
// The paper leaves the grid open, and whether it chose a threshold for each path or one
// for all; here it is one for each.
func Threshold(densities func(threshold float64) []float64, largest, level float64, points, rounds int) float64 {
	low, high := 0.0, largest
	for range rounds {
		step := (high - low) / float64(points)
		for k := 1; k < points; k++ {
			if t := low + float64(k)*step; Jumpiness(densities(t)) <= level {
				high = t
				break
			}
		}
		low = high - step
	}
	return high
}

// Jumpiness sums, along the edge densities ρ of a path from the largest λ to the
// smallest, "all the negative jumps … where the previous jump had been positive":
//
//	Σ_k (ρ_(k−1) − ρ_k)  over k with ρ_k < ρ_(k−1) and ρ_(k−1) > ρ_(k−2)
//
// A fall that goes on over several λ counts once, with its first jump.
func Jumpiness(densities []float64) (sum float64) {
	for k := 2; k < len(densities); k++ {
		if fall := densities[k-1] - densities[k]; fall > 0 && densities[k-1] > densities[k-2] {
			sum += fall
		}
	}
	return sum
}
