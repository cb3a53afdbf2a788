package imputation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
)

// filled are the missing cells of a table, row by row.
type filled struct {
	values [][]float64 // (missing cells, draws); of a method without draws one number each
	point  []float64   // (missing cells): one number for each; nil: the draws' mean
}

// drawn says that there are draws.
func (f filled) drawn() bool { return len(f.values) > 0 && len(f.values[0]) > 1 }

// errors of what was filled in, per hidden cell, in standard deviations of its column.
type measures struct{ rmse, energy, coverage float64 }

// measure compares what was filled in with the cells that are in whole and not in t:
//
//	rmse      √(mean (point − x)²)
//	energy    Σ_i ES_i / hidden cells, of each row's hidden cells together
//	          ES_i = mean_k ‖X_k − x‖ − ½ mean_{k≠l} ‖X_k − X_l‖
//	coverage  share of the cells from the least to the largest of their draws
//
// ES is the energy score of Gneiting and Raftery 2007 ("Strictly proper scoring rules,
// prediction, and estimation", section 4.2), whose second mean is over pairs of different
// draws, so that its expectation does not depend on their number; without draws it is
// ‖point − x‖. Of m draws that x could have been one of, the range holds x with
// probability (m − 1)/(m + 1): of 20, 90.5 %. Columns are in units of the deviations of
// whole.
func measure(whole, t *data.Table, f filled) measures {
	_, scale := data.Standardise(whole)
	var m measures
	hidden, at := 0.0, 0
	for i := range t.N {
		var truth []float64
		var draws [][]float64 // (cells, draws)
		for j := range t.D {
			k := i*t.D + j
			if t.Observed[k] {
				continue
			}
			values := f.values[at]
			point := stat.Mean(values, nil)
			if f.point != nil {
				point = f.point[at]
			}
			at++
			if !whole.Observed[k] { // nobody knows what was there
				continue
			}
			unit, x := scale.Deviation[j], whole.Values[k]
			m.rmse += math.Pow((point-x)/unit, 2)
			if slices.Min(values) <= x && x <= slices.Max(values) {
				m.coverage++
			}
			draws = append(draws, floats.ScaleTo(make([]float64, len(values)), 1/unit, values))
			truth = append(truth, x/unit)
		}
		hidden += float64(len(truth))
		m.energy += energyScore(truth, draws)
	}
	return measures{rmse: math.Sqrt(m.rmse / hidden), energy: m.energy / hidden, coverage: m.coverage / hidden}
}

// energyScore is ES of draws (cells, draws) for x (cells).
func energyScore(x []float64, draws [][]float64) float64 {
	if len(x) == 0 {
		return 0
	}
	m := len(draws[0])
	far, apart := 0.0, 0.0
	for k := range m {
		far += distance(draws, func(c int) float64 { return draws[c][k] - x[c] })
		for l := range k {
			apart += distance(draws, func(c int) float64 { return draws[c][k] - draws[c][l] })
		}
	}
	if m == 1 {
		return far
	}
	return far/float64(m) - apart/float64(m*(m-1)) // half the mean over m(m−1) ordered pairs, of which apart has one half
}

func distance(cells [][]float64, gap func(c int) float64) float64 {
	square := 0.0
	for c := range cells {
		square += gap(c) * gap(c)
	}
	return math.Sqrt(square)
}
