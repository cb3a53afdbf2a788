package bootstrap

import (
	"cmp"
	"math"
	"slices"

	"missingscore/internal/trainers/inference"
)

const mostCompared = 100

// differences has as intervals the quantiles (1 ∓ level)/2 of the resampled differences
// (docs/theory/resampling.md#eq-differences).
func differences(places []int, values []float64, resamples [][]float64, level float64) *inference.Differences {
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(math.Abs(values[b]), math.Abs(values[a])) })
	d := &inference.Differences{Of: places[:min(len(places), mostCompared)], All: len(places)}
	x := make([]float64, len(resamples))
	for i, a := range d.Of {
		d.Value = append(d.Value, values[a])
		for _, b := range d.Of[i+1:] {
			for n, r := range resamples {
				x[n] = r[a] - r[b]
			}
			slices.Sort(x)
			d.Low, d.High = append(d.Low, quantile(x, (1-level)/2)), append(d.High, quantile(x, (1+level)/2))
		}
	}
	return d
}
