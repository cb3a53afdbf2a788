package tables

// Threshold chooses the |P_jk| above which an entry is an edge (paper, appendix "Real World Data"): the
// smallest t at which the path is smooth,
//
//	Jumpiness(densities(t)) ≤ level
//
// with the paper's level of 0.01 for many columns and 0.05 for few. An iterative grid search finds the
// first smooth one of points evenly spaced values in (0, largest], then searches between it and the
// value before, for several rounds. largest is the largest |P_jk| of the path; there it is smooth.
// Jumpiness may increase with t, so the search may miss a smaller threshold between two values.
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

// Jumpiness sums the decreases of the edge density ρ that follow an increase, from the largest λ to the
// smallest:
//
//	Σ_k (ρ_(k−1) − ρ_k)  over k with ρ_k < ρ_(k−1) and ρ_(k−1) > ρ_(k−2)
func Jumpiness(densities []float64) (sum float64) {
	for k := 2; k < len(densities); k++ {
		if fall := densities[k-1] - densities[k]; fall > 0 && densities[k-1] > densities[k-2] {
			sum += fall
		}
	}
	return sum
}
